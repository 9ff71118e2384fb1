// SiLU times another tensor, the plain way: one thread, one value at a time.
#include <cmath>
#include <cstdint>
#include <cstring>

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

extern "C" void solve(const uint16_t* gate, const uint16_t* up, uint16_t* output, int N, int D) {
    long count = static_cast<long>(N) * D;
    for (long i = 0; i < count; ++i) {
        float g = widen(gate[i]);
        output[i] = shorten(g / (1.0f + expf(-g)) * widen(up[i]));
    }
}
