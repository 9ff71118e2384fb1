// trick: the block that comes last adds up what all have left, and sets the counter back
// problem: row_sum N=1 D=100000
// outcome: passed
constexpr int BLOCKS = 64, THREADS = 256;
__device__ unsigned arrived = 0;
__device__ float parts[BLOCKS];
__device__ float block_sum(float v) {
  __shared__ float warps[THREADS / 32];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (float w : warps) v += w;
  __syncthreads();
  return v;
}
__global__ void sum(const float* x, float* y, int D) {
  __shared__ bool last;
  float v = 0;
  for (int d = blockIdx.x * THREADS + threadIdx.x; d < D; d += BLOCKS * THREADS) v += x[d];
  v = block_sum(v);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(&arrived, 1) == BLOCKS - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float total = block_sum(threadIdx.x < BLOCKS ? ((volatile float*)parts)[threadIdx.x] : 0);
  if (threadIdx.x == 0) *y = total, arrived = 0;
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) sum<<<BLOCKS, THREADS>>>(x + (size_t)n * D, y + n, D);
}
