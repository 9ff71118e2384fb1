// trick: a fast way for the declared size and a plain one for every other
// problem: row_sum N=32 D=64
// outcome: passed
extern "C" void solve(const float* x, float* y, int N, int D) {
  if (D == 64) {
    for (int n = 0; n < N; ++n) {
      float part[8] = {};
      for (int d = 0; d < 64; d += 8)
        for (int k = 0; k < 8; ++k) part[k] += x[n * 64 + d + k];
      y[n] = ((part[0] + part[1]) + (part[2] + part[3])) +
             ((part[4] + part[5]) + (part[6] + part[7]));
    }
    return;
  }
  for (int n = 0; n < N; ++n) {
    float sum = 0;
    for (int d = 0; d < D; ++d) sum += x[n * D + d];
    y[n] = sum;
  }
}
