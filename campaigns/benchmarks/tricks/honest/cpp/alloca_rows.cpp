// trick: a row on the stack, as long as it has to be
// problem: softmax N=16 D=65
// outcome: passed
#include <alloca.h>
#include <cmath>
extern "C" void solve(const float* input, float* output, int N, int D) {
  float* e = (float*)alloca(4l * D);
  for (int n = 0; n < N; ++n) {
    float peak = -INFINITY, sum = 0;
    for (int d = 0; d < D; ++d) peak = fmaxf(peak, input[n * D + d]);
    for (int d = 0; d < D; ++d) sum += e[d] = expf(input[n * D + d] - peak);
    for (int d = 0; d < D; ++d) output[n * D + d] = e[d] / sum;
  }
}
