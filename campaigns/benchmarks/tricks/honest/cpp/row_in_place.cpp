// trick: writes one row of a cache in place
// problem: kv_update T=64 D=32 pos=10
// outcome: passed
extern "C" void solve(float* cache, const float* fresh, int T, int D, int pos) {
  for (int d = 0; d < D; ++d) cache[pos * D + d] = fresh[d];
}
