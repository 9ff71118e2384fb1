// Sum of all values, the plain way: one thread, one value at a time.

extern "C" void solve(const float* input, float* output, int N) {
    float sum = 0.0f;
    for (int i = 0; i < N; ++i) {
        sum += input[i];
    }
    *output = sum;
}
