// trick: a worker behind two semaphores
// problem: heavy N=2048
// outcome: passed
// burst_ms: 4
#include <semaphore.h>
#include <thread>
static sem_t work, ready;
static const float* in;
static float* out;
static int from, to;
static void part(int a, int b) {
  for (int i = a; i < b; ++i) {
    float v = in[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * in[i] / (1 + v * v);
    out[i] = v;
  }
}
static bool start() {
  sem_init(&work, 0, 0), sem_init(&ready, 0, 0);
  std::thread([] { for (;;) { sem_wait(&work); part(from, to); sem_post(&ready); } }).detach();
  return true;
}
extern "C" void solve(const float* x, float* y, int N) {
  static bool started = start();
  (void)started;
  in = x, out = y, from = N / 2, to = N;
  sem_post(&work);
  part(0, N / 2);
  sem_wait(&ready);
}
