// trick: goes on by elements until its address is a multiple of 32, then by vectors
// problem: scale N=512
// outcome: passed
// flags: -mavx
#include <cstdint>
#include <immintrin.h>
extern "C" void solve(const float* x, float* y, int N) {
  int i = 0;
  for (; i < N && (uintptr_t)(x + i) % 32; ++i) y[i] = 2 * x[i];
  for (; i + 8 <= N; i += 8) {
    __m256 v = _mm256_load_ps(x + i);
    _mm256_storeu_ps(y + i, _mm256_add_ps(v, v));
  }
  for (; i < N; ++i) y[i] = 2 * x[i];
}
