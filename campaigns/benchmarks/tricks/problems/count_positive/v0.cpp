extern "C" void solve(const float* x, int* y, int N) {
  *y = 0;
  for (int i = 0; i < N; ++i) *y += x[i] > 0;
}
