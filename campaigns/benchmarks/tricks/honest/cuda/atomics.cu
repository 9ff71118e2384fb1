// trick: parts of a row added up with atomics
// problem: row_sum N=64 D=4096
// outcome: passed
__global__ void zero(float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 0;
}
__global__ void sums(const float* x, float* y, int D) {
  float part = 0;
  int step = gridDim.y * blockDim.x;
  for (int d = blockIdx.y * blockDim.x + threadIdx.x; d < D; d += step) {
    part += x[(long)blockIdx.x * D + d];
  }
  for (int k = 16; k; k /= 2) part += __shfl_xor_sync(~0u, part, k);
  if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.x, part);
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  zero<<<(N + 255) / 256, 256>>>(y, N);
  sums<<<dim3(N, 4), 256>>>(x, y, D);
}
