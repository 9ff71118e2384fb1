// trick: sets an input to zero
// problem: scale N=512
// outcome: wrong_result
// says: changed its input 'x'
extern "C" void solve(float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  x[7] = 0;
}
