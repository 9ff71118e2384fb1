// The judge's loops on a CPU: make inputs, and compare answers, in one pass over memory each.
// Compiled by one_pass.py without contraction, so that every rounding is torch's.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace {

// Elements of a row that are compared at once: both sides stay in the first-level cache.
constexpr int64_t BLOCK = 2048;
constexpr int64_t LANES = 8;

// Of an answer. A runner can write to it, so each element is read once: the compiler must take
// what is in `into` for all that it will ever know.
inline void read_once(void* into, const void* from, size_t bytes) {
    memcpy(into, from, bytes);
    asm volatile("" : : "r"(into) : "memory");
}

template <class T, class Bits, bool DRAWN>
void mix_row(T* __restrict into, const T* one, const T* difference, const T* pattern,
             const T* last, int64_t width, T exact) {
    for (int64_t i = 0; i < width; ++i) {
        const T value = T(one[i] ^ (difference[i] & pattern[i]));
        if (DRAWN) {
            // All ones where the value is inexact: a negative number's sign, shifted down.
            const T inexact = T(T(Bits(0) - Bits(value & exact)) >> (8 * sizeof(T) - 1));
            into[i] = T(value ^ (inexact & last[i]));
        } else {
            into[i] = value;
        }
    }
}

// steps: elements from row to row of into, one and difference, pattern, last. last: may be null.
template <class T, class Bits>
void mix(void* into, const void* one, const void* difference, const void* pattern,
         const void* last, const int64_t* steps, int64_t rows, int64_t width, int64_t exact) {
    for (int64_t row = 0; row < rows; ++row) {
        T* made = static_cast<T*>(into) + row * steps[0];
        const T* a = static_cast<const T*>(one) + row * steps[1];
        const T* b = static_cast<const T*>(difference) + row * steps[1];
        const T* c = static_cast<const T*>(pattern) + row * steps[2];
        if (last) {
            const T* d = static_cast<const T*>(last) + row * steps[3];
            mix_row<T, Bits, true>(made, a, b, c, d, width, T(exact));
        } else {
            mix_row<T, Bits, false>(made, a, b, c, a, width, T(0));
        }
    }
}

template <class T>
bool block_wrong(const T* have, const T* want, int64_t count, T rtol, T atol, T most) {
    int wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
        const T size = want[i] < 0 ? -want[i] : want[i];
        T bound = size * rtol + atol;
        // An infinite bound would let the wrong infinity pass.
        bound = bound > most ? most : bound;
        const T error = have[i] - want[i];
        // Both are false of a NaN.
        wrong |= !((error <= bound) & (-error <= bound));
    }
    return wrong != 0;
}

// Adds up error² and want² in doubles, in lanes so that it need not be done one by one.
template <class T>
void block_sums(const T* have, const T* want, int64_t count, double* sums) {
    typedef T Part __attribute__((vector_size(LANES * sizeof(T))));
    typedef double Wide __attribute__((vector_size(LANES * sizeof(double))));
    Wide errors = {}, sizes = {};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        Part a, b;
        memcpy(&a, have + i, sizeof(a));
        memcpy(&b, want + i, sizeof(b));
        const Wide error = __builtin_convertvector(a - b, Wide);
        const Wide size = __builtin_convertvector(b, Wide);
        errors += error * error;
        sizes += size * size;
    }
    for (int64_t lane = 0; lane < LANES; ++lane) {
        sums[0] += errors[lane];
        sums[1] += sizes[lane];
    }
    for (; i < count; ++i) {
        const double error = T(have[i] - want[i]), size = want[i];
        sums[0] += error * error;
        sums[1] += size * size;
    }
}

// right: 1 for each row without a wrong element. sums: error² and want² by row, or null.
template <class T>
void close_rows(const void* found, int64_t found_step, const void* want, int64_t want_step,
                int64_t rows, int64_t width, const double* accepted, uint8_t* right,
                double* sums) {
    const T rtol = T(accepted[0]), atol = T(accepted[1]), most = T(accepted[2]);
    T have[BLOCK];
    for (int64_t row = 0; row < rows; ++row) {
        const T* given = static_cast<const T*>(found) + row * found_step;
        const T* wanted = static_cast<const T*>(want) + row * want_step;
        bool wrong = false;
        double both[2] = {0, 0};
        // A row that is wrong is compared closely anyway.
        for (int64_t at = 0; at < width && !wrong; at += BLOCK) {
            const int64_t count = width - at < BLOCK ? width - at : BLOCK;
            read_once(have, given + at, count * sizeof(T));
            wrong = block_wrong(have, wanted + at, count, rtol, atol, most);
            if (sums) block_sums(have, wanted + at, count, both);
        }
        right[row] = !wrong;
        if (sums) {
            sums[2 * row] = both[0];
            sums[2 * row + 1] = both[1];
        }
    }
}

}  // namespace

#define MIX(NAME, T, BITS)                                                                      \
    extern "C" void NAME(void* into, const void* one, const void* difference,                   \
                         const void* pattern, const void* last, const int64_t* steps,           \
                         int64_t rows, int64_t width, int64_t exact) {                          \
        mix<T, BITS>(into, one, difference, pattern, last, steps, rows, width, exact);          \
    }
// One byte has no sign, as torch has it.
MIX(mix_1, uint8_t, uint8_t)
MIX(mix_2, int16_t, uint16_t)
MIX(mix_4, int32_t, uint32_t)
MIX(mix_8, int64_t, uint64_t)

#define CLOSE(NAME, T)                                                                          \
    extern "C" void NAME(const void* found, int64_t found_step, const void* want,               \
                         int64_t want_step, int64_t rows, int64_t width,                        \
                         const double* accepted, uint8_t* right, double* sums) {                \
        close_rows<T>(found, found_step, want, want_step, rows, width, accepted, right, sums);  \
    }
CLOSE(close_4, float)
CLOSE(close_8, double)
