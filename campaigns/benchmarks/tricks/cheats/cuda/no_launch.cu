// trick: launches nothing
// problem: scale N=100000
// outcome: wrong_result
// says: never written
extern "C" void solve(const float* x, float* y, int N) {}
