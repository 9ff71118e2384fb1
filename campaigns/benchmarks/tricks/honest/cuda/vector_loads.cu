// trick: loads of 16 bytes, and a tail
// problem: scale N=100000
// outcome: passed
__global__ void scale(const float4* x, float4* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N / 4) {
    float4 v = x[i];
    y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
  int tail = N / 4 * 4 + i;
  if (tail < N) ((float*)y)[tail] = 2 * ((const float*)x)[tail];
}
extern "C" void solve(const float* x, float* y, int N) {
  scale<<<(N / 4 + 256) / 256, 256>>>((const float4*)x, (float4*)y, N);
}
