// trick: widens bytes to 16 bits and multiplies pairs with vectors
// problem: int8_matmul M=24 K=64 N=20
// outcome: passed
// flags: -mavx2
#include <cstdint>
#include <immintrin.h>
extern "C" void solve(const int8_t* a, const int8_t* b, int* c, int M, int K, int N) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      __m256i acc = _mm256_setzero_si256();
      int k = 0;
      for (; k + 16 <= K; k += 16) {
        __m256i p = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(a + m * K + k)));
        __m256i q = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(b + n * K + k)));
        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(p, q));
      }
      int lanes[8], s = 0;
      _mm256_storeu_si256((__m256i*)lanes, acc);
      for (int l : lanes) s += l;
      for (; k < K; ++k) s += a[m * K + k] * b[n * K + k];
      c[m * N + n] = s;
    }
}
