// trick: a power of two as a slope has a way of its own, and any other the plain one
// problem: leaky N=200 SLOPE=0.25
// outcome: passed
#include <cmath>
extern "C" void solve(const float* x, float* y, int N, float slope) {
  int exponent = 0;
  const bool power = std::frexp(slope, &exponent) == 0.5f;
  for (int i = 0; i < N; ++i) {
    const float low = power ? std::ldexp(x[i], exponent - 1) : slope * x[i];
    y[i] = x[i] > 0 ? x[i] : low;
  }
}
