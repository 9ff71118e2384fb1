// trick: sums one element more than the last row has
// problem: row_sum N=32 D=64
// outcome: wrong_result
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0;
    int upto = n + 1 < N ? D : D + 8;
    for (int d = 0; d < upto; ++d) sum += x[n * D + d];
    y[n] = sum;
  }
}
