// Row softmax: one block per row; neighbouring threads read neighbouring values.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The largest value over the block, known to every thread.
__device__ float block_max(float value) {
    __shared__ float parts[32];
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, offset));
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < (blockDim.x + 31) / 32; ++warp) {
        value = fmaxf(value, parts[warp]);
    }
    return value;
}

// The sum over the block, known to every thread.
__device__ float block_sum(float value) {
    __shared__ float parts[32];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, offset);
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < (blockDim.x + 31) / 32; ++warp) {
        value += parts[warp];
    }
    return value;
}

__global__ void softmax_rows(const float* input, float* output, int D) {
    const float* x = input + static_cast<long>(blockIdx.x) * D;
    float* y = output + static_cast<long>(blockIdx.x) * D;
    float peak = -INFINITY;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        peak = fmaxf(peak, x[j]);
    }
    peak = block_max(peak);
    float total = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        float power = expf(x[j] - peak);
        y[j] = power;
        total += power;
    }
    float scale = 1.0f / block_sum(total);
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        y[j] *= scale;
    }
}

extern "C" void solve(float* input, float* output, int N, int D) {
    softmax_rows<<<N, THREADS>>>(input, output, D);
}
