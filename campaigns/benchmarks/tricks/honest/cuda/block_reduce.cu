// trick: cub's block reduction, with the block size chosen from templates by the row's length
// problem: row_sum N=64 D=4096
// outcome: passed
#include <cub/block/block_reduce.cuh>
template <int THREADS>
__global__ void sums(const float* __restrict__ x, float* __restrict__ y, int D) {
  using Reduce = cub::BlockReduce<float, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  float part = 0;
  for (int d = threadIdx.x; d < D; d += THREADS) part += x[(size_t)blockIdx.x * D + d];
  float total = Reduce(storage).Sum(part);
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  if (D <= 256) sums<64><<<N, 64>>>(x, y, D);
  else if (D <= 2048) sums<128><<<N, 128>>>(x, y, D);
  else sums<512><<<N, 512>>>(x, y, D);
}
