// trick: rows copied with memcpy, the next one prefetched
// problem: embedding V=500 D=24 N=100
// outcome: passed
#include <cstdint>
#include <cstring>
extern "C" void solve(const float* table, const int64_t* tokens, float* y, int V, int D, int N) {
  for (int n = 0; n < N; ++n) {
    if (n + 4 < N) __builtin_prefetch(table + tokens[n + 4] * D);
    std::memcpy(y + (size_t)n * D, table + tokens[n] * D, sizeof(float) * D);
  }
}
