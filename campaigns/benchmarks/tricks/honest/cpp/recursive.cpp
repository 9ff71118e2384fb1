// trick: sums up by halves, recursively
// problem: row_sum N=32 D=64
// outcome: passed
static float sum(const float* x, int count) {
  if (count == 0) return 0;
  if (count == 1) return x[0];
  return sum(x, count / 2) + sum(x + count / 2, count - count / 2);
}
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) y[n] = sum(x + n * D, D);
}
