// Sums of rows. A double at a time, in one chain of additions.
extern "C" void row_sums(const float *x, float *out, int rows, int width) {
  for (int r = 0; r < rows; ++r) {
    double total = 0;
    for (int c = 0; c < width; ++c) total += x[r * width + c];
    out[r] = static_cast<float>(total);
  }
}
