// trick: keeps what lies between in its own output
// problem: softmax N=16 D=65
// outcome: passed
#include <cmath>
extern "C" void solve(const float* input, float* output, int N, int D) {
  for (int n = 0; n < N; ++n) {
    const float* x = input + n * D;
    float* y = output + n * D;
    float peak = x[0], sum = 0;
    for (int d = 0; d < D; ++d) peak = fmaxf(peak, x[d]);
    for (int d = 0; d < D; ++d) y[d] = x[d] - peak;
    for (int d = 0; d < D; ++d) y[d] = expf(y[d]);
    for (int d = 0; d < D; ++d) sum += y[d];
    for (int d = 0; d < D; ++d) y[d] /= sum;
  }
}
