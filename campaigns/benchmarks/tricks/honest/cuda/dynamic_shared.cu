// trick: softmax with a row in dynamic shared memory, more of it than the default where it needs it
// problem: softmax N=64 D=4097
// outcome: passed
#include <cfloat>
#include <cstdio>
#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t e = (call);                                                             \
    if (e != cudaSuccess) std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
  } while (0)
__inline__ __device__ float all(float v, float* shared, bool sum) {
  for (int k = 16; k; k /= 2) {
    float other = __shfl_xor_sync(~0u, v, k);
    v = sum ? v + other : fmaxf(v, other);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = shared[0];
  for (int w = 1; w < blockDim.x / 32; ++w) v = sum ? v + shared[w] : fmaxf(v, shared[w]);
  return v;
}
__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int D) {
  extern __shared__ float row[];
  __shared__ float warps[32];
  x += (size_t)blockIdx.x * D;
  y += (size_t)blockIdx.x * D;
  float peak = -FLT_MAX, sum = 0;
  for (int d = threadIdx.x; d < D; d += blockDim.x) peak = fmaxf(peak, row[d] = x[d]);
  peak = all(peak, warps, false);
  for (int d = threadIdx.x; d < D; d += blockDim.x) sum += row[d] = __expf(row[d] - peak);
  sum = all(sum, warps, true);
  for (int d = threadIdx.x; d < D; d += blockDim.x) y[d] = __fdividef(row[d], sum);
}
extern "C" void solve(const float* input, float* output, int N, int D) {
  static size_t granted = 48 << 10;
  size_t need = sizeof(float) * D;
  if (need > granted) {
    CHECK(cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)need));
    granted = need;
  }
  softmax<<<N, 256, need>>>(input, output, D);
}
