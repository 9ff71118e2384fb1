// trick: hints that the cache should keep its inputs for longest, also until the next burst
// problem: scale N=1000000
// outcome: no_gain
// against: v0.cu
// calls: 24
__device__ float kept(const float* at) {
  float value = 0;
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(at), "l"(policy));
#else
  value = *at;
#endif
  return value;
}
__device__ void passing(float* at, float value) {
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(at), "f"(value), "l"(policy));
#else
  *at = value;
#endif
}
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) passing(y + i, 2 * kept(x + i));
}
extern "C" void solve(const float* x, float* y, int N) {
  scale<<<(N + 255) / 256, 256>>>(x, y, N);
}
