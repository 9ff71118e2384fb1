// trick: variance as the mean of squares less the square of the mean
// problem: moments N=32 D=64
// outcome: wrong_result
// says: shifted | constant rows
extern "C" void solve(const float* x, float* mean, float* variance, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0, squares = 0;
    for (int d = 0; d < D; ++d) sum += x[n * D + d], squares += x[n * D + d] * x[n * D + d];
    mean[n] = sum / D;
    variance[n] = squares / D - mean[n] * mean[n];
  }
}
