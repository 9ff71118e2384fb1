#include <cstdint>
extern "C" void solve(const float* x, const int32_t* at, float* y, int N, int M) {
  for (int i = 0; i < N; ++i) y[i] = x[at[i]];
}
