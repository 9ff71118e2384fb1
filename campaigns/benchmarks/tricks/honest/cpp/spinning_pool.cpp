// trick: a helper thread that spins for work between calls
// problem: heavy N=2048
// outcome: passed
// burst_ms: 4
// calls: 32
#include <atomic>
#include <sched.h>
#include <thread>
static std::atomic<int> job{0}, done{0};
static const float* in;
static float* out;
static int from, upto;
static void work(const float* x, float* y, int first, int last) {
  for (int i = first; i < last; ++i) {
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * x[i] / (1 + v * v);
    y[i] = v;
  }
}
static void serve() {
  for (int seen = 0;; seen = job) {
    while (job == seen) sched_yield();
    work(in, out, from, upto);
    done.store(job);
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static bool started = [] {
    std::thread(serve).detach();
    return true;
  }();
  (void)started;
  in = x, out = y, from = N / 2, upto = N;
  int number = ++job;
  work(x, y, 0, N / 2);
  while (done != number) sched_yield();
}
