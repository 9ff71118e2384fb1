// trick: allocates and frees a workspace in every call
// problem: heavy N=2048
// outcome: passed
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  std::vector<float> v(x, x + N);
  for (int k = 0; k < 40; ++k)
    for (int i = 0; i < N; ++i) v[i] = 0.75f * v[i] + 0.25f * x[i] / (1 + v[i] * v[i]);
  for (int i = 0; i < N; ++i) y[i] = v[i];
}
