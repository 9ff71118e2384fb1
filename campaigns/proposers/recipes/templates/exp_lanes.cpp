#include <cmath>
#include <cstdint>
#include <cstring>

// e^x from arithmetic alone, so that a loop around it runs in vector lanes.
// x = whole * ln 2 + rest with |rest| <= ln 2 / 2; the power of two goes into the exponent bits.
static inline float exp_lanes(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float whole = rintf(x * 1.44269504f);
    float rest = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    float sum = 0.00138888889f;
    sum = sum * rest + 0.00833333333f;
    sum = sum * rest + 0.0416666667f;
    sum = sum * rest + 0.166666667f;
    sum = sum * rest + 0.5f;
    sum = sum * rest + 1.0f;
    sum = sum * rest + 1.0f;
    std::int32_t bits = (static_cast<std::int32_t>(whole) + 127) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}
