// trick: a kernel that never ends
// problem: scale N=100000
// outcome: timed_out
__global__ void forever(volatile float* y) {
  while (y[0] != 12345.678f) {
  }
}
extern "C" void solve(const float* x, float* y, int N) { forever<<<1, 1>>>(y); }
