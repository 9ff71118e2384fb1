// Row softmax, the plain way: one thread and three passes over every row.
#include <cmath>

extern "C" void solve(float* input, float* output, int N, int D) {
    for (int row = 0; row < N; ++row) {
        const float* x = input + static_cast<long>(row) * D;
        float* y = output + static_cast<long>(row) * D;
        float peak = x[0];
        for (int j = 0; j < D; ++j) {
            if (x[j] > peak) peak = x[j];
        }
        float total = 0.0f;
        for (int j = 0; j < D; ++j) {
            y[j] = expf(x[j] - peak);
            total += y[j];
        }
        for (int j = 0; j < D; ++j) {
            y[j] /= total;
        }
    }
}
