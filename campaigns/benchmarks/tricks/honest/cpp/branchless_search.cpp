// trick: a branchless binary search, by halves of a power of two
// problem: searchsorted M=300 N=100
// outcome: passed
#include <cstdint>
extern "C" void solve(const float* keys, const float* x, int64_t* y, int M, int N) {
  for (int i = 0; i < N; ++i) {
    int64_t at = 0, n = M;
    while (n > 0) {
      int64_t half = (n + 1) / 2;
      bool right = keys[at + half - 1] < x[i];
      at += right ? half : 0;
      n = right ? n - half : half - 1;
    }
    y[i] = at;
  }
}
