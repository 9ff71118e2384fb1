// trick: float16 in and out, computed in float32
// problem: scale_f16 N=100000
// outcome: passed
#include <cuda_fp16.h>
__global__ void scale(const __half* x, __half* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = __float2half(3 * __half2float(x[i]));
}
extern "C" void solve(const __half* x, __half* y, int N) {
  scale<<<(N + 255) / 256, 256>>>(x, y, N);
}
