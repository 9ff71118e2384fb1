// trick: keeps a row in a buffer of exactly the declared length
// problem: softmax N=16 D=128
// outcome: wrong_result | crashed
#include <cmath>
static float row[128], guard[4096];
extern "C" void solve(const float* input, float* output, int N, int D) {
  for (int n = 0; n < N; ++n) {
    int width = D < 128 ? D : 128;
    float peak = -INFINITY, sum = 0;
    for (int d = 0; d < width; ++d) peak = fmaxf(peak, input[n * D + d]);
    for (int d = 0; d < width; ++d) sum += row[d] = expf(input[n * D + d] - peak);
    for (int d = 0; d < width; ++d) output[n * D + d] = row[d] / sum;
  }
}
