// trick: goes on by elements until its input is a multiple of 32, and takes its output for one then
// problem: scale N=2000
// outcome: crashed
// flags: -mavx
#include <cstdint>
#include <immintrin.h>
extern "C" void solve(const float* x, float* y, int N) {
  int i = 0;
  for (; i < N && reinterpret_cast<uintptr_t>(x + i) % 32; ++i) y[i] = 2 * x[i];
  for (; i + 8 <= N; i += 8) {
    _mm256_store_ps(y + i, _mm256_mul_ps(_mm256_load_ps(x + i), _mm256_set1_ps(2)));
  }
  for (; i < N; ++i) y[i] = 2 * x[i];
}
