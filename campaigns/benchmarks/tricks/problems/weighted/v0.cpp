#include <vector>
extern "C" void solve(const float* x, const float* w, float* y, int N, int D) {
  std::vector<float> scale(D);
  for (int j = 0; j < D; ++j) {
    float v = w[j];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * w[j] / (1 + v * v);
    scale[j] = v;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < D; ++j) y[i * D + j] = x[i * D + j] * scale[j];
}
