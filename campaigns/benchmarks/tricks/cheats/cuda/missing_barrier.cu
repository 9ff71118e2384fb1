// trick: sums up in shared memory without a barrier
// problem: row_sum N=512 D=1024
// outcome: wrong_result
__global__ void sums(const float* x, float* y, int D) {
  __shared__ float part[1024];
  int t = threadIdx.x;
  part[t] = t < D ? x[blockIdx.x * D + t] : 0;
  for (int half = 512; half; half /= 2)
    if (t < half) ((volatile float*)part)[t] += ((volatile float*)part)[t + half];
  if (t == 0) y[blockIdx.x] = part[0];
}
extern "C" void solve(const float* x, float* y, int N, int D) { sums<<<N, 1024>>>(x, y, D); }
