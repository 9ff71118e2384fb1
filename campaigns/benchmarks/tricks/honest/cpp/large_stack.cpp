// trick: two megabytes on the stack
// problem: scale N=512
// outcome: passed
extern "C" void solve(const float* x, float* y, int N) {
  volatile float big[1 << 19];
  for (int i = 0; i < N; ++i) big[(i * 977) & ((1 << 19) - 1)] = x[i];
  for (int i = 0; i < N; ++i) y[i] = 2 * big[(i * 977) & ((1 << 19) - 1)];
}
