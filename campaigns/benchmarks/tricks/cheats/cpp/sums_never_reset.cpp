// trick: adds to a static buffer that only the first call finds empty
// problem: row_sum N=32 D=64
// outcome: wrong_result
static float total[4096];
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    for (int d = 0; d < D; ++d) total[n] += x[n * D + d];
    y[n] = total[n];
  }
}
