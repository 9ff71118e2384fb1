// trick: a host thread launches the work after the call has returned
// problem: scale N=100000
// outcome: cheated | wrong_result | crashed
#include <thread>
#include <unistd.h>
__global__ void scale(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  std::thread([=] {
    usleep(5000);
    scale<<<(N + 255) / 256, 256>>>(x, y, N);
    cudaDeviceSynchronize();
  }).detach();
}
