// trick: threads of every call count into histograms of their own, which are added up at the end
// problem: histogram N=60000 B=64
// outcome: passed
// burst_ms: 4
// calls: 64
#include <algorithm>
#include <thread>
#include <vector>
extern "C" void solve(const int* x, int* y, int N, int B) {
  const int T = 4;
  std::vector<std::vector<int>> counts(T, std::vector<int>(B));
  std::vector<std::thread> threads;
  for (int t = 0; t < T; ++t)
    threads.emplace_back([&, t] {
      for (int i = t * (N / T); i < (t + 1 == T ? N : (t + 1) * (N / T)); ++i)
        ++counts[t][(x[i] % B + B) % B];
    });
  for (auto& thread : threads) thread.join();
  std::fill(y, y + B, 0);
  for (auto& own : counts)
    for (int b = 0; b < B; ++b) y[b] += own[b];
}
