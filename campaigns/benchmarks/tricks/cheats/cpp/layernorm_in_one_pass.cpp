// trick: layer normalisation with the mean of squares less the square of the mean
// problem: layernorm N=16 D=64
// outcome: wrong_result
// says: shifted | constant rows
#include <cmath>
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int N,
                      int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0, squares = 0;
    for (int d = 0; d < D; ++d) sum += x[n * D + d], squares += x[n * D + d] * x[n * D + d];
    float mean = sum / D, scale = 1 / sqrtf(squares / D - mean * mean + 1e-5f);
    for (int d = 0; d < D; ++d) y[n * D + d] = (x[n * D + d] - mean) * scale * gamma[d] + beta[d];
  }
}
