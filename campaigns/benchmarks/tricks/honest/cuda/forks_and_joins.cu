// trick: forks to two streams of its own, and joins both before it returns
// problem: scale N=100000
// outcome: passed
// calls: 64
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
static cudaStream_t sides[2];
static cudaEvent_t now, done[2];
extern "C" void solve(const float* x, float* y, int N) {
  if (!now) {
    cudaEventCreateWithFlags(&now, cudaEventDisableTiming);
    for (int k = 0; k < 2; ++k) {
      cudaStreamCreateWithFlags(&sides[k], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
    }
  }
  int half = N / 2, rest = N - half;
  cudaEventRecord(now, cudaStreamPerThread);
  for (cudaStream_t side : sides) cudaStreamWaitEvent(side, now, 0);
  if (half) scale<<<(half + 255) / 256, 256, 0, sides[0]>>>(x, y, half);
  scale<<<(rest + 255) / 256, 256, 0, sides[1]>>>(x + half, y + half, rest);
  for (int k = 0; k < 2; ++k) {
    cudaEventRecord(done[k], sides[k]);
    cudaStreamWaitEvent(cudaStreamPerThread, done[k], 0);
  }
}
