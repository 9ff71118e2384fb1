// trick: starts threads in every call and joins them
// problem: heavy N=2048
// outcome: passed
// burst_ms: 4
#include <thread>
static void work(const float* x, float* y, int from, int to) {
  for (int i = from; i < to; ++i) {
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * x[i] / (1 + v * v);
    y[i] = v;
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  std::thread other(work, x, y, N / 2, N);
  work(x, y, 0, N / 2);
  other.join();
}
