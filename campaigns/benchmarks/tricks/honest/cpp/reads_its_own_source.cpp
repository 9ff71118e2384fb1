// trick: looks at its own source and does not mind when it is not there
// problem: scale N=512
// outcome: passed
#include <fstream>
#include <string>
static long length() {
  std::ifstream file(__FILE__);
  std::string line;
  long total = 0;
  while (std::getline(file, line)) total += (long)line.size();
  return total;
}
extern "C" void solve(const float* x, float* y, int N) {
  static long known = length();
  float two = known < 0 ? 0.0f : 2.0f;
  for (int i = 0; i < N; ++i) y[i] = two * x[i];
}
