// trick: its second kernel begins early, and waits for the first one before it reads
// problem: scale N=100000
// outcome: passed
// calls: 64
__global__ void first(const float* x, float* y, int N) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i];
}
__global__ void second(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (i < N) y[i] += x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  first<<<(N + 255) / 256, 256>>>(x, y, N);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3((N + 255) / 256);
  how.blockDim = dim3(256);
  how.stream = cudaStreamPerThread;
  how.attrs = &early;
  how.numAttrs = 1;
  cudaLaunchKernelEx(&how, second, x, y, N);
}
