// trick: C++20 with a latch, a span, a jthread and a barrier
// problem: scale N=512
// outcome: passed
// flags: -std=c++20 -O2 -pthread
#include <algorithm>
#include <barrier>
#include <latch>
#include <span>
#include <thread>
extern "C" void solve(const float* x, float* y, int N) {
  std::span<const float> in(x, N);
  std::span<float> out(y, N);
  std::latch done(1);
  std::jthread half([&] {
    std::ranges::transform(in.subspan(N / 2), out.begin() + N / 2, [](float v) { return v + v; });
    done.count_down();
  });
  std::ranges::transform(in.first(N / 2), out.begin(), [](float v) { return v + v; });
  done.wait();
}
