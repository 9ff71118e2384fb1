// trick: std::pmr from a buffer on its stack, spilling into the heap
// problem: segment_sum S=40 N=300
// outcome: passed
#include <memory_resource>
#include <vector>
extern "C" void solve(const float* x, const int* offsets, float* y, int S, int N) {
  std::byte buffer[1024];
  std::pmr::monotonic_buffer_resource arena(buffer, sizeof buffer);
  std::pmr::vector<double> sums(N + 1, 0.0, &arena);
  for (int i = 0; i < N; ++i) sums[i + 1] = sums[i] + x[i];
  for (int s = 0; s < S; ++s) y[s] = sums[offsets[s + 1]] - sums[offsets[s]];
}
