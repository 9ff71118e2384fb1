// trick: takes the first element of the next segment for an empty one
// problem: segment_sum S=40 N=300
// outcome: wrong_result
extern "C" void solve(const float* x, const int* offsets, float* y, int S, int N) {
  for (int s = 0; s < S; ++s) {
    int i = offsets[s];
    double sum = 0;
    do sum += i < N ? x[i] : 0; while (++i < offsets[s + 1]);
    y[s] = sum;
  }
}
