// trick: pins itself to the first processor it may use
// problem: scale N=512
// outcome: passed
#include <sched.h>
extern "C" void solve(const float* x, float* y, int N) {
  static bool pinned = [] {
    cpu_set_t may, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof may, &may);
    for (int k = 0; k < CPU_SETSIZE; ++k)
      if (CPU_ISSET(k, &may)) {
        CPU_SET(k, &one);
        break;
      }
    sched_setaffinity(0, sizeof one, &one);
    return true;
  }();
  (void)pinned;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
