// trick: throws and catches inside
// problem: scale N=512
// outcome: passed
#include <stdexcept>
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) {
    try {
      if (i % 100 == 0) throw std::runtime_error("special");
      y[i] = 2 * x[i];
    } catch (const std::runtime_error&) {
      y[i] = x[i] + x[i];
    }
  }
}
