// trick: tries two ways in its first calls by its own clock and keeps the faster one
// problem: scale N=512
// outcome: passed
#include <time.h>
static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void one(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
static void four(const float* x, float* y, int N) {
  int i = 0;
  for (; i + 4 <= N; i += 4)
    for (int k = 0; k < 4; ++k) y[i + k] = x[i + k] + x[i + k];
  for (; i < N; ++i) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static void (*best)(const float*, float*, int) = nullptr;
  if (!best) {
    double start = now();
    one(x, y, N);
    double middle = now();
    four(x, y, N);
    best = now() - middle < middle - start ? four : one;
  }
  best(x, y, N);
}
