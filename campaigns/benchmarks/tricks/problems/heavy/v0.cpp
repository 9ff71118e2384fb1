extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) {
    float v = x[i];
    for (int k = 0; k < 40; ++k) v = 0.75f * v + 0.25f * x[i] / (1 + v * v);
    y[i] = v;
  }
}
