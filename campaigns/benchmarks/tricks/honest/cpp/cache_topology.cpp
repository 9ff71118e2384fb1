// trick: asks the system for its caches and its processors to choose a block size
// problem: transpose N=24 D=40
// outcome: passed
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>
static int block_size() {
  long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index0/size");
  int kib = 0;
  if (file >> kib && kib > 0) l1 = kib * 1024L;
  int b = 4;
  while ((long)b * b * 8 < std::max(l1, 4096L) / 2) b *= 2;
  return std::max(4, b / 2);
}
static const int block = block_size();
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int i = 0; i < N; i += block)
    for (int j = 0; j < D; j += block)
      for (int n = i; n < std::min(N, i + block); ++n)
        for (int d = j; d < std::min(D, j + block); ++d) y[d * N + n] = x[n * D + d];
}
