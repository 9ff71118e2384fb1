// trick: adds partial sums in the order in which threads arrive, so repeats may differ
// problem: row_sum N=8 D=800
// outcome: passed
#include <mutex>
#include <thread>
#include <vector>
extern "C" void solve(const float* x, float* y, int N, int D) {
  std::mutex lock;
  for (int n = 0; n < N; ++n) y[n] = 0;
  auto add = [&](int first) {
    for (int n = 0; n < N; ++n) {
      float part = 0;
      for (int d = first; d < D; d += 3) part += x[(long)n * D + d];
      std::lock_guard<std::mutex> hold(lock);
      y[n] += part;
    }
  };
  std::vector<std::thread> others;
  for (int k = 1; k < 3; ++k) others.emplace_back(add, k);
  add(0);
  for (auto& other : others) other.join();
}
