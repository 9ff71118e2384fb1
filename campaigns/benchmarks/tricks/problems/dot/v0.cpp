extern "C" void solve(const float* a, const float* b, float* c, int N) {
  float sum = 0;
  for (int i = 0; i < N; ++i) sum += a[i] * b[i];
  *c = sum;
}
