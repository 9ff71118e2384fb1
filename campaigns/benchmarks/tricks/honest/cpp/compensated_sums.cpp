// trick: compensated summation, more exact than the reference in float32
// problem: row_sum N=32 D=64
// outcome: passed
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    volatile float sum = 0, lost = 0;
    for (int d = 0; d < D; ++d) {
      float term = x[n * D + d] - lost;
      volatile float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    y[n] = sum;
  }
}
