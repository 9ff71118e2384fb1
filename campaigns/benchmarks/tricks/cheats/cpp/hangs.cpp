// trick: never returns
// problem: scale N=512
// outcome: timed_out
extern "C" void solve(const float* x, float* y, int N) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
