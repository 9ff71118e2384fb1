extern "C" void solve(const float* x, const float* w, const float* b, float* y, int C, int F, int S) {
  for (int o = 0; o < F; ++o)
    for (int i = 0; i < S; ++i)
      for (int j = 0; j < S; ++j) {
        float sum = b[o];
        for (int c = 0; c < C; ++c)
          for (int k = 0; k < 9; ++k) {
            int u = i + k / 3 - 1, v = j + k % 3 - 1;
            if (u >= 0 && v >= 0 && u < S && v < S) sum += w[(o * C + c) * 9 + k] * x[(c * S + u) * S + v];
          }
        y[(o * S + i) * S + j] = sum;
      }
}
