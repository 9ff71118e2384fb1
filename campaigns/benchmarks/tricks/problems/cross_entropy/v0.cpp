#include <cmath>
#include <cstdint>
extern "C" void solve(const float* x, const int64_t* t, float* loss, float* dx, int N, int C) {
  float total = 0;
  for (int n = 0; n < N; ++n) {
    const float* row = x + n * C;
    float peak = row[0], sum = 0;
    for (int c = 1; c < C; ++c) peak = fmaxf(peak, row[c]);
    for (int c = 0; c < C; ++c) sum += expf(row[c] - peak);
    for (int c = 0; c < C; ++c) dx[n * C + c] = (expf(row[c] - peak) / sum - (c == t[n])) / N;
    total -= row[t[n]] - peak - logf(sum);
  }
  *loss = total / N;
}
