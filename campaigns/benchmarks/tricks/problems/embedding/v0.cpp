#include <cstdint>
extern "C" void solve(const float* table, const int64_t* tokens, float* y, int V, int D, int N) {
  for (int n = 0; n < N; ++n)
    for (int d = 0; d < D; ++d) y[n * D + d] = table[tokens[n] * D + d];
}
