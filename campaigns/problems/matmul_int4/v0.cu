// Matrix product with a weight of 4 bits, the plain way: one thread per output, summed in float.
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void matmul_outputs(const __nv_bfloat16* __restrict__ A,
                               const uint8_t* __restrict__ packed,
                               const __nv_bfloat16* __restrict__ scales,
                               __nv_bfloat16* __restrict__ C, int M, int K, int N) {
    int row = blockIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= N) return;
    const __nv_bfloat16* a = A + static_cast<long>(row) * K;
    float sum = 0.0f;
    // A byte holds two values of a column, and 128 of them have one scale.
    for (int k = 0; k < K; k += 2) {
        int both = packed[static_cast<long>(k / 2) * N + column];
        float scale = __bfloat162float(scales[static_cast<long>(k / 128) * N + column]);
        float low = (both & 15) - 8;
        float high = (both >> 4) - 8;
        sum += (__bfloat162float(a[k]) * low + __bfloat162float(a[k + 1]) * high) * scale;
    }
    C[static_cast<long>(row) * N + column] = __float2bfloat16(sum);
}

extern "C" void solve(const __nv_bfloat16* A, const uint8_t* packed, const __nv_bfloat16* scales,
                      __nv_bfloat16* C, int M, int K, int N) {
    dim3 blocks((N + THREADS - 1) / THREADS, M);
    matmul_outputs<<<blocks, THREADS>>>(A, packed, scales, C, M, K, N);
}
