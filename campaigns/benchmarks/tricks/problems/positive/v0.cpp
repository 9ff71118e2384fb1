extern "C" void solve(const float* x, bool* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = x[i] > 0;
}
