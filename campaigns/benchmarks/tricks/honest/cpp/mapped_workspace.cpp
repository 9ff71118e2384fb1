// trick: a workspace from mmap, unmapped at the end of the call
// problem: scale N=512
// outcome: passed
#include <sys/mman.h>
extern "C" void solve(const float* x, float* y, int N) {
  float* w = (float*)mmap(nullptr, 4l * N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
  for (int i = 0; i < N; ++i) w[i] = x[i];
  for (int i = 0; i < N; ++i) y[i] = w[i] + x[i];
  munmap(w, 4l * N);
}
