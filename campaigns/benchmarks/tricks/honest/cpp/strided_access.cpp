// trick: walks down columns, in blocks
// problem: transpose N=24 D=40
// outcome: passed
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int d0 = 0; d0 < D; d0 += 8)
    for (int n0 = 0; n0 < N; n0 += 8)
      for (int d = d0; d < d0 + 8 && d < D; ++d)
        for (int n = n0; n < n0 + 8 && n < N; ++n) y[d * N + n] = x[n * D + d];
}
