// trick: tries block sizes by its own clock in the first call
// problem: scale N=100000
// outcome: passed
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int best = 0;
  if (!best) {
    float least = 1e30f;
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    for (int threads = 64; threads <= 1024; threads *= 2) {
      cudaEventRecord(start, cudaStreamPerThread);
      for (int k = 0; k < 20; ++k) scale<<<(N + threads - 1) / threads, threads>>>(x, y, N);
      cudaEventRecord(end, cudaStreamPerThread);
      cudaEventSynchronize(end);
      float ms = 0;
      cudaEventElapsedTime(&ms, start, end);
      if (ms < least) least = ms, best = threads;
    }
  }
  scale<<<(N + best - 1) / best, best>>>(x, y, N);
}
