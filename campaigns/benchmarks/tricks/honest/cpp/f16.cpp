// trick: float16, multiplied in float16
// problem: scale_f16 N=512
// outcome: passed
extern "C" void solve(const _Float16* x, _Float16* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = x[i] * (_Float16)3;
}
