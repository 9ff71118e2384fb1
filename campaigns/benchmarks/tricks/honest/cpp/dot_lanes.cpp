// trick: a dot product in eight lanes, re-associated by the compiler
// problem: dot N=300000
// outcome: passed
// flags: -O3 -ffast-math -mavx2 -mfma
extern "C" void solve(const float* a, const float* b, float* c, int N) {
  float s = 0;
  for (int i = 0; i < N; ++i) s += a[i] * b[i];
  c[0] = s;
}
