// trick: compares exponentials with a scaled sum instead of dividing
// problem: confident N=64 D=100
// outcome: passed
#include <cmath>
extern "C" void solve(const float* x, bool* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float peak = x[n * D], sum = 0;
    for (int d = 0; d < D; ++d) peak = fmaxf(peak, x[n * D + d]);
    for (int d = 0; d < D; ++d) sum += expf(x[n * D + d] - peak);
    for (int d = 0; d < D; ++d) y[n * D + d] = expf(x[n * D + d] - peak) > 0.02f * sum;
  }
}
