#include <cstdint>
extern "C" void solve(const int8_t* a, const int8_t* b, int* c, int M, int K, int N) {
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      c[m * N + n] = 0;
      for (int k = 0; k < K; ++k) c[m * N + n] += a[m * K + k] * b[n * K + k];
    }
}
