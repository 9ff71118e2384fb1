// trick: loads that fault unless addresses are multiples of 32 bytes
// problem: scale N=512
// outcome: crashed
// says: multiples of 16 bytes
// flags: -mavx
#include <immintrin.h>
extern "C" void solve(const float* x, float* y, int N) {
  int i = 0;
  for (; i + 8 <= N; i += 8) {
    __m256 v;
    asm volatile("vmovaps %1, %0" : "=x"(v) : "m"(*(const __m256*)(x + i)));
    _mm256_storeu_ps(y + i, _mm256_add_ps(v, v));
  }
  for (; i < N; ++i) y[i] = 2 * x[i];
}
