// trick: uses the room behind an input
// problem: scale N=512
// outcome: wrong_result
// says: outside its output
extern "C" void solve(float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  x[N + 3] = 1;
}
