// trick: counts in lanes of one byte that it empties one round too late
// problem: count_positive N=50000
// outcome: wrong_result
// says: constant rows | no input below zero
#include <cstdint>
extern "C" void solve(const float* x, int* y, int N) {
  int total = 0, i = 0;
  while (i + 32 <= N) {
    uint8_t lanes[32] = {};
    for (int r = 0; r < 256 && i + 32 <= N; ++r, i += 32)
      for (int k = 0; k < 32; ++k) lanes[k] += x[i + k] > 0;
    for (int k = 0; k < 32; ++k) total += lanes[k];
  }
  for (; i < N; ++i) total += x[i] > 0;
  *y = total;
}
