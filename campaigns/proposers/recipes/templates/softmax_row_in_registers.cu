// Row softmax: one block per row that reads and writes global memory once.
// Rows of up to THREADS * 4 * VECTORS values whose length is a multiple of 4 stay in registers.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int VECTORS = 8;
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

template <int COUNT>
__global__ void softmax_in_registers(const float* input, float* output, int D) {
    const int vectors = D / 4;
    const long row = static_cast<long>(blockIdx.x) * vectors;
    const float4* x = reinterpret_cast<const float4*>(input) + row;
    float4* y = reinterpret_cast<float4*>(output) + row;
    float4 held[COUNT];
    float peak = -INFINITY;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * THREADS + threadIdx.x;
        held[v] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (j < vectors) held[v] = x[j];
        peak = fmaxf(peak, fmaxf(fmaxf(held[v].x, held[v].y), fmaxf(held[v].z, held[v].w)));
    }
    peak = block_max(peak);
    float total = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        held[v].x = expf(held[v].x - peak);
        held[v].y = expf(held[v].y - peak);
        held[v].z = expf(held[v].z - peak);
        held[v].w = expf(held[v].w - peak);
        total += (held[v].x + held[v].y) + (held[v].z + held[v].w);
    }
    const float scale = 1.0f / block_sum(total);
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * THREADS + threadIdx.x;
        const float4 h = held[v];
        if (j < vectors) y[j] = make_float4(h.x * scale, h.y * scale, h.z * scale, h.w * scale);
    }
}

__global__ void softmax_any(const float* input, float* output, int D) {
    const float* x = input + static_cast<long>(blockIdx.x) * D;
    float* y = output + static_cast<long>(blockIdx.x) * D;
    float peak = -INFINITY;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        peak = fmaxf(peak, x[j]);
    }
    peak = block_max(peak);
    float total = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        total += expf(x[j] - peak);
    }
    const float scale = 1.0f / block_sum(total);
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        y[j] = expf(x[j] - peak) * scale;
    }
}

extern "C" void solve(float* input, float* output, int N, int D) {
    const int each = (D + 4 * THREADS - 1) / (4 * THREADS);
    if (D % 4 != 0 || each > VECTORS) {
        softmax_any<<<N, THREADS>>>(input, output, D);
    } else if (each == 1) {
        softmax_in_registers<1><<<N, THREADS>>>(input, output, D);
    } else if (each == 2) {
        softmax_in_registers<2><<<N, THREADS>>>(input, output, D);
    } else if (each <= 4) {
        softmax_in_registers<4><<<N, THREADS>>>(input, output, D);
    } else {
        softmax_in_registers<VECTORS><<<N, THREADS>>>(input, output, D);
    }
}
