// trick: reads where indices point to
// problem: gather N=256 M=1000
// outcome: passed
#include <cstdint>
extern "C" void solve(const float* x, const int32_t* at, float* y, int N, int M) {
  int i = 0;
  for (; i + 4 <= N; i += 4) {
    float a = x[at[i]], b = x[at[i + 1]], c = x[at[i + 2]], d = x[at[i + 3]];
    y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
  }
  for (; i < N; ++i) y[i] = x[at[i]];
}
