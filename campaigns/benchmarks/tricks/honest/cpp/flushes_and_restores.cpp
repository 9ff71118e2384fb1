// trick: flushes denormals to zero within the call and restores the mode
// problem: softmax N=64 D=100
// outcome: passed
#include <cmath>
#include <xmmintrin.h>
extern "C" void solve(const float* x, float* y, int N, int D) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  for (int n = 0; n < N; ++n, x += D, y += D) {
    float peak = x[0], sum = 0;
    for (int d = 1; d < D; ++d) peak = fmaxf(peak, x[d]);
    for (int d = 0; d < D; ++d) sum += y[d] = expf(x[d] - peak);
    float r = 1 / sum;
    for (int d = 0; d < D; ++d) y[d] *= r;
  }
  _mm_setcsr(before);
}
