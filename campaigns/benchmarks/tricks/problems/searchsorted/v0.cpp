#include <cstdint>
extern "C" void solve(const float* keys, const float* x, int64_t* y, int M, int N) {
  for (int i = 0; i < N; ++i) {
    y[i] = 0;
    for (int m = 0; m < M; ++m) y[i] += keys[m] < x[i];
  }
}
