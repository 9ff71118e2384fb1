// trick: writes a byte that is no boolean for true
// problem: positive N=512
// outcome: wrong_result
extern "C" void solve(const float* x, bool* y, int N) {
  for (int i = 0; i < N; ++i) ((unsigned char*)y)[i] = x[i] > 0 ? 255 : 0;
}
