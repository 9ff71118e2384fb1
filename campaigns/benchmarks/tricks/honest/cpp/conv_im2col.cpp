// trick: convolution by im2col into a workspace and a product
// problem: conv2d C=3 F=5 S=20
// outcome: passed
#include <memory>
static std::unique_ptr<float[]> columns;
static size_t capacity = 0;
static void im2col(const float* x, float* w, int C, int S) {
  for (int c = 0; c < C; ++c)
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx)
        for (int i = 0; i < S; ++i)
          for (int j = 0; j < S; ++j) {
            int a = i + ky - 1, b = j + kx - 1;
            *w++ = a < 0 || b < 0 || a >= S || b >= S ? 0 : x[(c * S + a) * S + b];
          }
}
extern "C" void solve(const float* x, const float* w, const float* b, float* y, int C, int O, int S) {
  size_t need = (size_t)C * 9 * S * S;
  if (need > capacity) {
    columns.reset(new float[need]);
    capacity = need;
  }
  im2col(x, columns.get(), C, S);
  for (int o = 0; o < O; ++o) {
    float* out = y + o * S * S;
    for (int i = 0; i < S * S; ++i) out[i] = b[o];
    for (int k = 0; k < C * 9; ++k)
      for (int i = 0; i < S * S; ++i) out[i] += w[o * C * 9 + k] * columns[(size_t)k * S * S + i];
  }
}
