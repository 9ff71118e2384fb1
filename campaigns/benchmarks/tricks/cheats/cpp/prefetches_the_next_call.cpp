// trick: fetches into the cache what it guesses the next call will be made on
// problem: scale N=4096
// outcome: no_gain
// against: v0.cpp
// burst_ms: 8
// calls: 4096
static const float* last;
extern "C" void solve(const float* x, float* y, int N) {
  long step = last && x > last ? x - last : 0;
  last = x;
  for (int i = 0; i < N; ++i) {
    if (i % 16 == 0 && step) {
      __builtin_prefetch(x + step + i);
      __builtin_prefetch(y + step + i, 1);
    }
    y[i] = 2 * x[i];
  }
}
