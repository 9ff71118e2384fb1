extern "C" void solve(const int* x, int* y, int N, int B) {
  for (int b = 0; b < B; ++b) y[b] = 0;
  for (int i = 0; i < N; ++i) ++y[(x[i] % B + B) % B];
}
