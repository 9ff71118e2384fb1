// trick: clones of a function for several processors, of which the loader picks one (an ifunc)
// problem: scale N=512
// outcome: passed
// flags: -O3
__attribute__((target_clones("avx512f", "avx2", "default")))
static void twice(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) { twice(x, y, N); }
