// trick: two threads add to the same sums without telling each other
// problem: row_sum N=32 D=256
// outcome: wrong_result
#include <atomic>
#include <sched.h>
#include <thread>
static std::atomic<int> met{0};
static void add(const float* x, volatile float* y, int N, int D, int first) {
  // Both start together, and both have read the sum before either has written it.
  for (int n = 0; n < N; ++n) {
    float part = 0;
    for (int d = first; d < D; d += 2) part += x[(long)n * D + d];
    float old = y[n];
    ++met;
    while (met < 2 * (n + 1)) sched_yield();
    y[n] = old + part;
  }
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) y[n] = 0;
  met = 0;
  std::thread other(add, x, y, N, D, 1);
  add(x, y, N, D, 0);
  other.join();
}
