// Histogram, the plain way: one thread, one value at a time.
#include <cstdint>

extern "C" void solve(const uint8_t* values, int* counts, int N) {
    for (int bin = 0; bin < 256; ++bin) {
        counts[bin] = 0;
    }
    for (int i = 0; i < N; ++i) {
        ++counts[values[i]];
    }
}
