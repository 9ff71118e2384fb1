// Softmax of wide rows, the plain way: one thread per row and three passes over global memory.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 32;

__global__ void softmax_rows(const __nv_bfloat16* input, __nv_bfloat16* output, int N, int D) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    const __nv_bfloat16* x = input + static_cast<long>(row) * D;
    __nv_bfloat16* y = output + static_cast<long>(row) * D;
    float peak = __bfloat162float(x[0]);
    for (int j = 0; j < D; ++j) {
        peak = fmaxf(peak, __bfloat162float(x[j]));
    }
    float total = 0.0f;
    for (int j = 0; j < D; ++j) {
        total += expf(__bfloat162float(x[j]) - peak);
    }
    for (int j = 0; j < D; ++j) {
        y[j] = __float2bfloat16(expf(__bfloat162float(x[j]) - peak) / total);
    }
}

extern "C" void solve(const __nv_bfloat16* input, __nv_bfloat16* output, int N, int D) {
    softmax_rows<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, N, D);
}
