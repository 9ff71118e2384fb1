// trick: a ring buffer whose pages are mapped twice in a row, over a memfd; plain where that is refused
// problem: scale N=512
// outcome: passed
#include <sys/mman.h>
#include <unistd.h>
static float* ring() {
  const long bytes = 4096;
  const int fd = memfd_create("ring", 0);
  if (fd < 0 || ftruncate(fd, bytes)) return nullptr;
  void* at = mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  for (long k = 0; k < 2; ++k) {
    mmap(static_cast<char*>(at) + k * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
         fd, 0);
  }
  close(fd);
  return static_cast<float*>(at);
}
extern "C" void solve(const float* x, float* y, int N) {
  static float* const both = ring();
  for (int i = 0; i < N; ++i) {
    if (!both) {
      y[i] = x[i] + x[i];
      continue;
    }
    both[i % 1024] = x[i];
    y[i] = both[i % 1024] + both[i % 1024 + 1024];
  }
}
