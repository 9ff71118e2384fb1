// trick: OpenMP over rows
// problem: softmax N=64 D=65
// outcome: passed
// flags: -fopenmp -O2
#include <cmath>
extern "C" void solve(const float* input, float* output, int N, int D) {
#pragma omp parallel for
  for (int n = 0; n < N; ++n) {
    float peak = input[n * D], sum = 0;
    for (int d = 0; d < D; ++d) peak = fmaxf(peak, input[n * D + d]);
    for (int d = 0; d < D; ++d) sum += output[n * D + d] = expf(input[n * D + d] - peak);
    for (int d = 0; d < D; ++d) output[n * D + d] /= sum;
  }
}
