// trick: a launch with too many threads, which fails without a word
// problem: scale N=100000
// outcome: wrong_result | crashed
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  scale<<<(N + 4095) / 4096, 4096>>>(x, y, N);
  cudaGetLastError();
}
