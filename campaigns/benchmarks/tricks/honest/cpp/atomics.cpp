// trick: two threads add to the same sums, with atomics
// problem: row_sum N=8 D=1000
// outcome: passed
#include <atomic>
#include <thread>
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) y[n] = 0;
  auto add = [=](int first) {
    for (int n = 0; n < N; ++n) {
      float part = 0;
      for (int d = first; d < D; d += 2) part += x[n * D + d];
      std::atomic<float>* at = (std::atomic<float>*)(y + n);
      float old = at->load();
      while (!at->compare_exchange_weak(old, old + part)) {
      }
    }
  };
  std::thread other(add, 1);
  add(0);
  other.join();
}
