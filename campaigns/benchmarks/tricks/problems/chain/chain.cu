__global__ void chain(const float* x, float* y, int N, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float value = x[i];
#pragma unroll 4
  for (int step = 0; step < 2000; ++step) value = value * a + b;
  y[i] = value;
}
extern "C" void solve(const float* x, float* y, int N, float a, float b) {
  chain<<<(N + 255) / 256, 256>>>(x, y, N, a, b);
}
