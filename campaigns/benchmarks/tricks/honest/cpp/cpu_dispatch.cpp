// trick: picks AVX2 or plain code by what the processor has, once
// problem: row_sum N=32 D=64
// outcome: passed
#include <immintrin.h>
__attribute__((target("avx2,fma"))) static float sum_avx2(const float* x, int n) {
  __m256 a = _mm256_setzero_ps();
  int i = 0;
  for (; i + 8 <= n; i += 8) a = _mm256_add_ps(a, _mm256_loadu_ps(x + i));
  float part[8];
  _mm256_storeu_ps(part, a);
  float s = 0;
  for (float p : part) s += p;
  for (; i < n; ++i) s += x[i];
  return s;
}
static float sum_plain(const float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  return s;
}
static float (*const sum)(const float*, int) = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? sum_avx2 : sum_plain;
}();
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) y[n] = sum(x + (long)n * D, D);
}
