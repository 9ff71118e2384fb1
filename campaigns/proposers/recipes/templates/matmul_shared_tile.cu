// Matrix product: tiles of A and B are staged in shared memory and used TILE times each.
#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void matmul_tiles(const float* __restrict__ A, const float* __restrict__ B,
                             float* __restrict__ C, int M, int K, int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        const int across = start + threadIdx.x;
        const int down = start + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && across < K ? A[row * K + across] : 0.0f;
        b[threadIdx.y][threadIdx.x] = down < K && column < N ? B[down * N + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

extern "C" void solve(float* A, float* B, float* C, int M, int K, int N) {
    dim3 threads(TILE, TILE);
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_tiles<<<blocks, threads>>>(A, B, C, M, K, N);
}
