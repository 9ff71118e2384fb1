extern "C" void solve(const float* x, float* mean, float* variance, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0, squares = 0;
    for (int d = 0; d < D; ++d) sum += x[n * D + d];
    sum /= D;
    for (int d = 0; d < D; ++d) squares += (x[n * D + d] - sum) * (x[n * D + d] - sum);
    mean[n] = sum;
    variance[n] = squares / D;
  }
}
