// trick: prints a megabyte in its first call
// problem: scale N=512
// outcome: passed
#include <cstdio>
static int calls;
extern "C" void solve(const float* x, float* y, int N) {
  if (!calls++)
    for (int k = 0; k < 20000; ++k) fprintf(stderr, "configuration %d of 20000 looks all right\n", k);
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
