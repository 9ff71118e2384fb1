// trick: softmax that does not subtract the largest value
// problem: softmax N=16 D=64
// outcome: wrong_result
// says: larger
#include <cmath>
extern "C" void solve(const float* input, float* output, int N, int D) {
  for (int n = 0; n < N; ++n) {
    float sum = 0;
    for (int d = 0; d < D; ++d) sum += expf(input[n * D + d]);
    for (int d = 0; d < D; ++d) output[n * D + d] = expf(input[n * D + d]) / sum;
  }
}
