__device__ float scale[1 << 20];
__global__ void derive(const float* w, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= D) return;
  float v = w[j];
  for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * w[j] / (1 + v * v);
  scale[j] = v;
}
__global__ void apply(const float* x, float* y, int N, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= D) return;
  for (int i = 0; i < N; ++i) y[i * D + j] = x[i * D + j] * scale[j];
}
extern "C" void solve(const float* x, const float* w, float* y, int N, int D) {
  derive<<<(D + 255) / 256, 256>>>(w, D);
  apply<<<(D + 255) / 256, 256>>>(x, y, N, D);
}
