extern "C" void solve(const _Float16* x, _Float16* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = (_Float16)((float)x[i] * 3);
}
