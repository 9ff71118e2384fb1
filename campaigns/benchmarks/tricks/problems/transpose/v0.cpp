extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n)
    for (int d = 0; d < D; ++d) y[d * N + n] = x[n * D + d];
}
