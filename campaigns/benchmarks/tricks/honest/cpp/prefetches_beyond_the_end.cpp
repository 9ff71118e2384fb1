// trick: prefetches eight rows ahead, after the last one too, where other calls' rows lie
// problem: row_sum N=4 D=1024
// outcome: passed
// burst_ms: 4
// calls: 2048
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    const float* row = x + static_cast<long>(n) * D;
    float sums[8] = {};
    int d = 0;
    for (; d + 8 <= D; d += 8) {
      if (d % 16 == 0) __builtin_prefetch(row + 8L * D + d);
      for (int k = 0; k < 8; ++k) sums[k] += row[d + k];
    }
    for (; d < D; ++d) sums[0] += row[d];
    y[n] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
}
