// Matrix product, the plain way: one thread per output, both operands straight from global memory.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void matmul_outputs(const float* __restrict__ A, const float* __restrict__ B,
                               float* __restrict__ C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + column];
    }
    C[row * N + column] = sum;
}

extern "C" void solve(float* A, float* B, float* C, int M, int K, int N) {
    dim3 threads(TILE, TILE);
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_outputs<<<blocks, threads>>>(A, B, C, M, K, N);
}
