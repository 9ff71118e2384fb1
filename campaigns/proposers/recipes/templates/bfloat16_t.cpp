// A bfloat16 is the upper half of a float.
struct bfloat16_t {
    std::uint16_t bits;

    bfloat16_t() = default;

    bfloat16_t(float value) {
        std::uint32_t whole;
        std::memcpy(&whole, &value, sizeof whole);
        // Round to the nearest, and to the even one of two; a NaN stays one.
        const std::uint32_t rounded = (whole + 0x7fffu + ((whole >> 16) & 1u)) >> 16;
        bits = static_cast<std::uint16_t>(value != value ? 0x7fc0u : rounded);
    }

    operator float() const {
        const std::uint32_t whole = static_cast<std::uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &whole, sizeof value);
        return value;
    }
};
