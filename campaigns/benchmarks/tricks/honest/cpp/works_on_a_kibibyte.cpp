// trick: calls so short that a processor could begin the next one before this one is done
// problem: scale N=256
// outcome: passed
// against: v0.cpp
// burst_ms: 8
// calls: 1024
#if defined(__x86_64__)
#include <immintrin.h>
#endif

extern "C" void solve(const float* x, float* y, int N) {
  int i = 0;
#if defined(__x86_64__)
  for (; i + 4 <= N; i += 4) {
    const __m128 four = _mm_loadu_ps(x + i);
    _mm_storeu_ps(y + i, _mm_add_ps(four, four));
  }
#endif
  for (; i < N; ++i) y[i] = 2 * x[i];
}
