// Matrix product: each thread keeps SIDE x SIDE sums in registers over shared-memory tiles.
// A block of (TILE / SIDE) x (TILE / SIDE) threads computes TILE x TILE outputs; a thread's rows
// and columns lie TILE / SIDE apart, so that neighbouring threads touch neighbouring addresses.
#include <cuda_runtime.h>

constexpr int TILE = 64;
constexpr int SIDE = 4;
constexpr int DEPTH = 16;
constexpr int ACROSS = TILE / SIDE;
constexpr int THREADS = ACROSS * ACROSS;

__global__ void __launch_bounds__(THREADS)
matmul_registers(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                 int M, int K, int N) {
    __shared__ float a[DEPTH][TILE + 1];
    __shared__ float b[DEPTH][TILE];
    const int top = blockIdx.y * TILE;
    const int left = blockIdx.x * TILE;
    const int down = threadIdx.x / ACROSS;
    const int across = threadIdx.x % ACROSS;
    float sum[SIDE][SIDE] = {};
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int row = top + i / DEPTH, k = start + i % DEPTH;
            a[i % DEPTH][i / DEPTH] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int k = start + i / TILE, column = left + i % TILE;
            b[i / TILE][i % TILE] = k < K && column < N ? B[k * N + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float row[SIDE], column[SIDE];
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                row[s] = a[k][down + s * ACROSS];
                column[s] = b[k][across + s * ACROSS];
            }
#pragma unroll
            for (int r = 0; r < SIDE; ++r) {
#pragma unroll
                for (int c = 0; c < SIDE; ++c) {
                    sum[r][c] += row[r] * column[c];
                }
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < SIDE; ++r) {
        for (int c = 0; c < SIDE; ++c) {
            const int row = top + down + r * ACROSS, column = left + across + c * ACROSS;
            if (row < M && column < N) C[row * N + column] = sum[r][c];
        }
    }
}

extern "C" void solve(float* A, float* B, float* C, int M, int K, int N) {
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_registers<<<blocks, THREADS>>>(A, B, C, M, K, N);
}
