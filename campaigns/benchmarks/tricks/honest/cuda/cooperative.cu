// trick: a cooperative launch, whose blocks wait for each other between two steps
// problem: scale N=100000
// outcome: passed
// calls: 64
#include <cooperative_groups.h>
__global__ void scale(const float* x, float* y, int N) {
  int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int i = first; i < N; i += step) y[i] = x[i];
  cooperative_groups::this_grid().sync();
  // Each element by another thread than before.
  for (int i = first; i < N; i += step) y[N - 1 - i] += x[N - 1 - i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int blocks = 0;
  if (!blocks) {
    int each = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, scale, 256, 0);
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
    blocks *= each;
  }
  void* given[] = {&x, &y, &N};
  cudaLaunchCooperativeKernel(scale, dim3(blocks), dim3(256), given, 0, cudaStreamPerThread);
}
