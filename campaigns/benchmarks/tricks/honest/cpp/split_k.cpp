// trick: a product whose inner dimension is split and added up in another order
// problem: matmul M=20 K=96 N=36
// outcome: passed
#include <vector>
extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  std::vector<float> part(4l * M * N, 0.0f);
  for (int s = 0; s < 4; ++s)
    for (int m = 0; m < M; ++m)
      for (int k = s; k < K; k += 4)
        for (int n = 0; n < N; ++n) part[(s * M + m) * N + n] += A[m * K + k] * B[k * N + n];
  for (int i = 0; i < M * N; ++i)
    C[i] = (part[i] + part[i + 3 * M * N]) + (part[i + M * N] + part[i + 2 * M * N]);
}
