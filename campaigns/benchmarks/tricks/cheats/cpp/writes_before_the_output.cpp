// trick: writes one element before its output
// problem: scale N=512
// outcome: wrong_result
// says: outside its output
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  y[-1] = 1;
}
