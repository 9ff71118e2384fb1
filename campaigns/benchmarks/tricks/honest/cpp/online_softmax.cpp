// trick: softmax in one pass over the row and one to write
// problem: softmax N=16 D=65
// outcome: passed
#include <cmath>
extern "C" void solve(const float* input, float* output, int N, int D) {
  for (int n = 0; n < N; ++n) {
    const float* x = input + n * D;
    float peak = -INFINITY, sum = 0;
    for (int d = 0; d < D; ++d) {
      float higher = fmaxf(peak, x[d]);
      sum = sum * expf(peak - higher) + expf(x[d] - higher);
      peak = higher;
    }
    for (int d = 0; d < D; ++d) output[n * D + d] = expf(x[d] - peak) / sum;
  }
}
