// trick: a workspace that is allocated once, in two kernels
// problem: row_sum N=64 D=4096
// outcome: passed
constexpr int PARTS = 8;
__global__ void partial(const float* x, float* w, int D) {
  float part = 0;
  for (int d = blockIdx.y * 32 + threadIdx.x; d < D; d += PARTS * 32)
    part += x[(long)blockIdx.x * D + d];
  for (int k = 16; k; k /= 2) part += __shfl_xor_sync(~0u, part, k);
  if (threadIdx.x == 0) w[blockIdx.x * PARTS + blockIdx.y] = part;
}
__global__ void finish(const float* w, float* y, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float sum = 0;
  for (int k = 0; k < PARTS; ++k) sum += w[n * PARTS + k];
  y[n] = sum;
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  static float* w = nullptr;
  static int room = 0;
  if (room < N) {
    if (w) cudaFree(w);
    cudaMalloc(&w, 4l * PARTS * N);
    room = N;
  }
  partial<<<dim3(N, PARTS), 32>>>(x, w, D);
  finish<<<(N + 255) / 256, 256>>>(w, y, N);
}
