// trick: 8-bit blur in integers with a reciprocal by multiplication
// problem: blur8 H=30 W=40
// outcome: passed
#include <algorithm>
#include <cstdint>
extern "C" void solve(const uint8_t* x, uint8_t* y, int H, int W) {
  auto at = [=](int i, int j) { return (unsigned)x[std::clamp(i, 0, H - 1) * W + std::clamp(j, 0, W - 1)]; };
  for (int i = 0; i < H; ++i)
    for (int j = 0; j < W; ++j) {
      unsigned s = 4;
      for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) s += at(i + a, j + b);
      y[i * W + j] = s * 7282 >> 16;
    }
}
