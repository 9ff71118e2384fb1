// trick: a scalar loss and its gradient
// problem: cross_entropy N=40 C=60
// outcome: passed
#include <cmath>
#include <cstdint>
extern "C" void solve(const float* x, const int64_t* t, float* loss, float* dx, int N, int C) {
  float total = 0;
  for (int n = 0; n < N; ++n) {
    const float* r = x + n * C;
    float peak = r[0], sum = 0;
    for (int c = 1; c < C; ++c) peak = fmaxf(peak, r[c]);
    for (int c = 0; c < C; ++c) sum += dx[n * C + c] = expf(r[c] - peak);
    for (int c = 0; c < C; ++c) dx[n * C + c] = (dx[n * C + c] / sum - (c == t[n])) / N;
    total += logf(sum) + peak - r[t[n]];
  }
  *loss = total / N;
}
