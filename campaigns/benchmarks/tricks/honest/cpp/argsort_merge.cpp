// trick: argsort by std::stable_sort on indices
// problem: argsort N=16 D=100
// outcome: passed
#include <algorithm>
#include <cstdint>
#include <numeric>
extern "C" void solve(const float* x, int64_t* order, int N, int D) {
  for (int n = 0; n < N; ++n) {
    int64_t* o = order + n * D;
    const float* r = x + n * D;
    std::iota(o, o + D, 0);
    std::stable_sort(o, o + D, [r](int64_t a, int64_t b) { return r[a] < r[b]; });
  }
}
