// trick: a pool of threads that stays alive and sleeps between calls
// problem: heavy N=2048
// outcome: passed
// burst_ms: 4
// calls: 32
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex lock;
static std::condition_variable wake, ready;
static const float* in;
static float* out;
static int from, upto, job, done;
static void work(const float* x, float* y, int first, int last) {
  for (int i = first; i < last; ++i) {
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * x[i] / (1 + v * v);
    y[i] = v;
  }
}
static void serve() {
  std::unique_lock<std::mutex> hold(lock);
  for (int seen = 0;;) {
    wake.wait(hold, [&] { return job != seen; });
    seen = job;
    hold.unlock();
    work(in, out, from, upto);
    hold.lock();
    done = seen;
    ready.notify_one();
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static std::thread* pool = new std::thread(serve);
  (void)pool;
  {
    std::lock_guard<std::mutex> hold(lock);
    in = x, out = y, from = N / 2, upto = N, ++job;
  }
  wake.notify_one();
  work(x, y, 0, N / 2);
  std::unique_lock<std::mutex> hold(lock);
  ready.wait(hold, [] { return done == job; });
}
