#include <cmath>
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n, x += D, y += D) {
    float peak = x[0], sum = 0;
    for (int d = 1; d < D; ++d) peak = fmaxf(peak, x[d]);
    for (int d = 0; d < D; ++d) sum += y[d] = expf(x[d] - peak);
    for (int d = 0; d < D; ++d) y[d] /= sum;
  }
}
