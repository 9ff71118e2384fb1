// trick: the plain way
// problem: scale N=512
// outcome: passed
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
