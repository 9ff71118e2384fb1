#include <cstdint>
extern "C" void solve(const int64_t* x, int64_t* y, int N) {
  for (int i = 0; i < N; ++i) {
    int64_t v = x[i];
    for (int k = 0; k < 40; ++k) v = (v * v + x[i]) % 65521;
    y[i] = v;
  }
}
