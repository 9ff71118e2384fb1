"""Kernels for the C++ softmax that people hand in."""

# A wrong one: it shares out by a constant.
WRONG = """
#include <cmath>
extern "C" void solve(float* input, float* output, int N, int D) {
    for (long i = 0; i < static_cast<long>(N) * D; ++i) output[i] = expf(input[i]) / D;
}
"""
# The exponential is arithmetic alone here, so that its loop runs in vector lanes.
BETTER = """
#include <cstdint>
#include <cstring>

static inline float exp_lanes(float x) {
    x = x < -87.0f ? -87.0f : x;
    std::int32_t whole = static_cast<std::int32_t>(x * 1.44269504f - 0.5f);
    float rest = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    float sum = 0.00138888889f;
    sum = sum * rest + 0.00833333333f;
    sum = sum * rest + 0.0416666667f;
    sum = sum * rest + 0.166666667f;
    sum = sum * rest + 0.5f;
    sum = sum * rest + 1.0f;
    sum = sum * rest + 1.0f;
    std::int32_t bits = (whole + 127) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

extern "C" void solve(float* input, float* output, int N, int D) {
    for (int row = 0; row < N; ++row) {
        const float* x = input + static_cast<long>(row) * D;
        float* y = output + static_cast<long>(row) * D;
        float peak = x[0];
        for (int j = 1; j < D; ++j) peak = x[j] > peak ? x[j] : peak;
        for (int j = 0; j < D; ++j) y[j] = exp_lanes(x[j] - peak);
        float total = 0.0f;
        for (int j = 0; j < D; ++j) total += y[j];
        float share = 1.0f / total;
        for (int j = 0; j < D; ++j) y[j] *= share;
    }
}
"""
