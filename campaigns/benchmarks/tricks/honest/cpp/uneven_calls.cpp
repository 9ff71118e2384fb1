// trick: every tenth call tidies up and takes longer
// problem: heavy N=2048
// outcome: passed
// burst_ms: 4
// calls: 32
#include <vector>
static int calls;
static std::vector<float> tidy(1 << 16);
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) {
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * x[i] / (1 + v * v);
    y[i] = v;
  }
  if (++calls % 10 == 0)
    for (float& t : tidy) t = t * 0.5f + 1;
}
