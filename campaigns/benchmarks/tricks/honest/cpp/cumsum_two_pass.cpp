// trick: prefix sums in blocks, offsets added in a second pass over its own output
// problem: cumsum N=8 D=5000
// outcome: passed
extern "C" void solve(const float* x, float* y, int N, int D) {
  const int B = 512;
  for (int n = 0; n < N; ++n) {
    const float* r = x + (long)n * D;
    float* o = y + (long)n * D;
    for (int b = 0; b < D; b += B) {
      float s = 0;
      for (int i = b; i < D && i < b + B; ++i) o[i] = s += r[i];
    }
    float carry = 0;
    for (int b = 0; b < D; b += B) {
      int end = b + B < D ? b + B : D;
      float last = o[end - 1];
      for (int i = b; i < end; ++i) o[i] += carry;
      carry += last;
    }
  }
}
