// trick: a kernel of a few microseconds, whose slots lie close together
// problem: scale N=2000
// outcome: passed
// calls: 512
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] + x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  scale<<<(N + 127) / 128, 128>>>(x, y, N);
}
