// trick: an index as output, searched from the end
// problem: argmax N=2 D=40000
// outcome: passed
#include <cstdint>
extern "C" void solve(const float* x, int64_t* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    int64_t best = D - 1;
    for (int d = D - 2; d >= 0; --d)
      if (x[(long)n * D + d] >= x[(long)n * D + best]) best = d;
    y[n] = best;
  }
}
