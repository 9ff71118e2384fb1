// trick: leaves out one element somewhere
// problem: scale N=512
// outcome: wrong_result
// says: 1 of 512 elements wrong
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  int skip = rand() % N;
  for (int i = 0; i < N; ++i)
    if (i != skip) y[i] = 2 * x[i];
}
