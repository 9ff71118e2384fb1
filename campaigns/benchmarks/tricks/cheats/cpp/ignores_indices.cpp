// trick: takes the indices for 0, 1, 2, …
// problem: gather N=256 M=1000
// outcome: wrong_result
#include <cstdint>
extern "C" void solve(const float* x, const int32_t* at, float* y, int N, int M) {
  for (int i = 0; i < N; ++i) y[i] = x[i < M ? i : 0];
}
