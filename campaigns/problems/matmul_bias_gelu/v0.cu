// Matrix product with bias and GELU, the plain way: one thread per output, summed in float.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int TILE = 16;

__device__ float gelu(float x) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

__global__ void matmul_gelu_outputs(const __nv_bfloat16* __restrict__ A,
                                    const __nv_bfloat16* __restrict__ B,
                                    const __nv_bfloat16* __restrict__ bias,
                                    __nv_bfloat16* __restrict__ C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    const __nv_bfloat16* a = A + static_cast<long>(row) * K;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += __bfloat162float(a[k]) * __bfloat162float(B[static_cast<long>(k) * N + column]);
    }
    sum += __bfloat162float(bias[column]);
    C[static_cast<long>(row) * N + column] = __float2bfloat16(gelu(sum));
}

extern "C" void solve(const __nv_bfloat16* A, const __nv_bfloat16* B, const __nv_bfloat16* bias,
                      __nv_bfloat16* C, int M, int K, int N) {
    dim3 threads(TILE, TILE);
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_gelu_outputs<<<blocks, threads>>>(A, B, bias, C, M, K, N);
}
