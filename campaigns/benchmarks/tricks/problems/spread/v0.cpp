extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    double sum = 0, squares = 0;
    for (int d = 0; d < D; ++d) sum += x[n * D + d];
    for (int d = 0; d < D; ++d) {
      double off = x[n * D + d] - sum / D;
      squares += off * off;
    }
    y[n] = squares / D;
  }
}
