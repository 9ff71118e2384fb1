// trick: zeroes the output first and then writes the few values that are not zero
// problem: tails N=512
// outcome: passed
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
  memset(y, 0, 4l * N);
  for (int i = 0; i < N; ++i)
    if (x[i] > 1.5f) y[i] = x[i];
}
