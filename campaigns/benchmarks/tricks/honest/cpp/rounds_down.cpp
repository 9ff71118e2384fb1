// trick: changes the rounding mode and puts it back
// problem: row_sum N=32 D=64
// outcome: passed
#include <cfenv>
extern "C" void solve(const float* x, float* y, int N, int D) {
  int mode = fegetround();
  fesetround(FE_TOWARDZERO);
  for (int n = 0; n < N; ++n) {
    volatile float sum = 0;
    for (int d = 0; d < D; ++d) sum = sum + x[n * D + d];
    y[n] = sum;
  }
  fesetround(mode);
}
