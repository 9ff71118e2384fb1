// trick: tries six tile sizes by its own clock on its first inputs and says which it took
// problem: matmul M=40 K=48 N=36
// outcome: passed
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
static void product(const float* A, const float* B, float* C, int M, int K, int N, int T) {
  std::fill(C, C + (size_t)M * N, 0.0f);
  for (int m0 = 0; m0 < M; m0 += T)
    for (int k0 = 0; k0 < K; k0 += T)
      for (int m = m0; m < std::min(M, m0 + T); ++m)
        for (int k = k0; k < std::min(K, k0 + T); ++k)
          for (int n = 0; n < N; ++n) C[m * N + n] += A[m * K + k] * B[k * N + n];
}
extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  using clock = std::chrono::steady_clock;
  static int best = 0;
  if (!best) {
    auto least = std::numeric_limits<double>::max();
    for (int tile : {4, 8, 16, 24, 32, 64}) {
      auto start = clock::now();
      for (int repeat = 0; repeat < 5; ++repeat) product(A, B, C, M, K, N, tile);
      double took = std::chrono::duration<double>(clock::now() - start).count();
      if (took < least) least = took, best = tile;
    }
    std::fprintf(stderr, "tile %d (%.1f us)\n", best, least / 5 * 1e6);
    std::puts("tuned");
  }
  product(A, B, C, M, K, N, best);
}
