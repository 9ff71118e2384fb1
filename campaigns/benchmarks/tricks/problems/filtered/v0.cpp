#include <cmath>
extern "C" void solve(const float* x, const float* s, float* y, int N) {
  double sum = 0;
  for (int k = 0; k < 8000; ++k) sum += cos(1e-3 * k * *s);
  for (int i = 0; i < N; ++i) y[i] = static_cast<float>(sum / 8000) * x[i];
}
