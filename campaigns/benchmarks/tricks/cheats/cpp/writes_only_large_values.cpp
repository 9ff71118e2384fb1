// trick: writes only what is not zero
// problem: tails N=512
// outcome: wrong_result
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i)
    if (x[i] > 1.5f) y[i] = x[i];
}
