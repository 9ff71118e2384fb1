#include <cstring>

constexpr int ROWS = 8;
constexpr int LANES = 16;
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));

// R x LANES outputs; the sums live in registers over the whole inner dimension.
template <int R>
static inline void tile(const float* A, const float* B, float* C, int K, int N) {
    Lanes sum[R] = {};
    for (int k = 0; k < K; ++k) {
        Lanes b;
        std::memcpy(&b, B + static_cast<long>(k) * N, sizeof b);
#pragma GCC unroll 32
        for (int r = 0; r < R; ++r) {
            sum[r] += A[static_cast<long>(r) * K + k] * b;
        }
    }
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r) {
        std::memcpy(C + static_cast<long>(r) * N, &sum[r], sizeof sum[r]);
    }
}

// Matrices narrower than one vector.
static void narrow(const float* A, const float* B, float* C, int rows, int K, int N) {
    for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < N; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k) {
                sum += A[static_cast<long>(r) * K + k] * B[static_cast<long>(k) * N + j];
            }
            C[static_cast<long>(r) * N + j] = sum;
        }
    }
}

// Up to ROWS rows of C over all columns; the last tile is moved back so that it ends at column N.
static inline void tile_row(const float* A, const float* B, float* C, int rows, int K, int N) {
    if (N < LANES) {
        narrow(A, B, C, rows, K, N);
        return;
    }
    for (int done = 0; done < N; done += LANES) {
        const int j = done + LANES <= N ? done : N - LANES;
        if (rows == ROWS) {
            tile<ROWS>(A, B + j, C + j, K, N);
            continue;
        }
        for (int r = 0; r < rows; ++r) {
            tile<1>(A + static_cast<long>(r) * K, B + j, C + static_cast<long>(r) * N + j, K, N);
        }
    }
}
