// RMS normalisation, the plain way: one thread; the mean square and the result in two loops.
#include <cmath>
#include <cstdint>
#include <cstring>

constexpr float EPSILON = 1e-5f;

// A bfloat16 is the upper half of a float.
static float widen(uint16_t half) {
    uint32_t bits = static_cast<uint32_t>(half) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// To the nearest bfloat16, and to the even one of two that are as near.
static uint16_t shorten(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value) return 0x7fc0;
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

extern "C" void solve(const uint16_t* x, const uint16_t* weight, uint16_t* y, int N, int D) {
    for (int row = 0; row < N; ++row) {
        const uint16_t* in = x + static_cast<long>(row) * D;
        uint16_t* out = y + static_cast<long>(row) * D;
        float squares = 0.0f;
        for (int j = 0; j < D; ++j) {
            squares += widen(in[j]) * widen(in[j]);
        }
        float scale = 1.0f / sqrtf(squares / D + EPSILON);
        for (int j = 0; j < D; ++j) {
            out[j] = shorten(widen(in[j]) * scale * widen(weight[j]));
        }
    }
}
