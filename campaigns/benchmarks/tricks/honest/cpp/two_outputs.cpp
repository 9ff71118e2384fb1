// trick: two outputs from one stable pass
// problem: moments N=32 D=64
// outcome: passed
extern "C" void solve(const float* x, float* mean, float* variance, int N, int D) {
  for (int n = 0; n < N; ++n) {
    double m = 0, s = 0;
    for (int d = 0; d < D; ++d) {
      double delta = x[n * D + d] - m;
      m += delta / (d + 1);
      s += delta * (x[n * D + d] - m);
    }
    mean[n] = (float)m;
    variance[n] = (float)(s / D);
  }
}
