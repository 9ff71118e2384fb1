extern "C" void solve(const float* x, float* y, int N, float a, float b) {
  for (int i = 0; i < N; ++i) {
    float value = x[i];
    for (int step = 0; step < 2000; ++step) value = value * a + b;
    y[i] = value;
  }
}
