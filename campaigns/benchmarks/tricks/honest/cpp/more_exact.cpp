// trick: variance by Welford's update in double, where the reference loses digits
// problem: spread N=8 D=1000
// outcome: passed
extern "C" void solve(const float* x, float* y, int N, int D) {
  for (int n = 0; n < N; ++n) {
    double mean = 0, squares = 0;
    for (int d = 0; d < D; ++d) {
      const double value = x[n * D + d], off = value - mean;
      mean += off / (d + 1);
      squares += off * (value - mean);
    }
    y[n] = squares / D;
  }
}
