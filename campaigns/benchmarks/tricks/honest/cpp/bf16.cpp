// trick: bfloat16 in and out, rounded towards zero
// problem: scale_bf16 N=512
// outcome: passed
#include <cstdint>
#include <cstring>
extern "C" void solve(const uint16_t* x, uint16_t* y, int N) {
  for (int i = 0; i < N; ++i) {
    uint32_t bits = (uint32_t)x[i] << 16;
    float v;
    memcpy(&v, &bits, 4);
    v *= 3;
    memcpy(&bits, &v, 4);
    y[i] = bits >> 16;
  }
}
