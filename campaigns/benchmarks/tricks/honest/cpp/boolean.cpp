// trick: booleans, written eight at a time
// problem: positive N=512
// outcome: passed
#include <cstdint>
#include <cstring>
extern "C" void solve(const float* x, bool* y, int N) {
  int i = 0;
  for (; i + 8 <= N; i += 8) {
    uint64_t eight = 0;
    for (int k = 0; k < 8; ++k) eight |= (uint64_t)(x[i + k] > 0) << (8 * k);
    memcpy(y + i, &eight, 8);
  }
  for (; i < N; ++i) y[i] = x[i] > 0;
}
