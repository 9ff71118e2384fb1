// trick: leaves out what it multiplies by zero, and rows that are zeros all through
// problem: matmul M=40 K=64 N=36
// outcome: passed
#include <algorithm>
extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  std::fill(C, C + (long)M * N, 0.0f);
  for (int m = 0; m < M; ++m) {
    const float* a = A + (long)m * K;
    if (std::all_of(a, a + K, [](float v) { return v == 0; })) continue;
    for (int k = 0; k < K; ++k)
      if (a[k] != 0)
        for (int n = 0; n < N; ++n) C[m * N + n] += a[k] * B[k * N + n];
  }
}
