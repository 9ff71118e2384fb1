// Layer normalisation: one block per row that reads and writes global memory once.
// Rows of up to THREADS * 4 * VECTORS values whose length is a multiple of 4 stay in registers.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int VECTORS = 8;
constexpr float EPSILON = 1e-5f;
constexpr unsigned ALL_LANES = 0xffffffffu;

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
    __syncthreads();
    return value;
}

template <int COUNT>
__global__ void normalise_in_registers(const float4* x, const float4* gamma, const float4* beta,
                                       float4* y, int D) {
    const int vectors = D / 4;
    const long row = static_cast<long>(blockIdx.x) * vectors;
    float4 held[COUNT];
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * THREADS + threadIdx.x;
        held[v] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (j < vectors) held[v] = x[row + j];
        sum += (held[v].x + held[v].y) + (held[v].z + held[v].w);
    }
    const float mean = block_sum(sum) / D;
    float squares = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        if (v * THREADS + threadIdx.x >= vectors) continue;
        const float a = held[v].x - mean, b = held[v].y - mean;
        const float c = held[v].z - mean, d = held[v].w - mean;
        held[v] = make_float4(a, b, c, d);
        squares += (a * a + b * b) + (c * c + d * d);
    }
    const float scale = rsqrtf(block_sum(squares) / D + EPSILON);
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * THREADS + threadIdx.x;
        if (j >= vectors) continue;
        const float4 g = gamma[j], b = beta[j], h = held[v];
        y[row + j] = make_float4(h.x * scale * g.x + b.x, h.y * scale * g.y + b.y,
                                 h.z * scale * g.z + b.z, h.w * scale * g.w + b.w);
    }
}

__global__ void normalise_any(const float* x, const float* gamma, const float* beta, float* y,
                              int D) {
    const float* in = x + static_cast<long>(blockIdx.x) * D;
    float* out = y + static_cast<long>(blockIdx.x) * D;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        sum += in[j];
    }
    const float mean = block_sum(sum) / D;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        squares += (in[j] - mean) * (in[j] - mean);
    }
    const float scale = rsqrtf(block_sum(squares) / D + EPSILON);
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
    }
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int N,
                      int D) {
    const int each = (D + 4 * THREADS - 1) / (4 * THREADS);
    const float4* in = reinterpret_cast<const float4*>(x);
    const float4* scales = reinterpret_cast<const float4*>(gamma);
    const float4* shifts = reinterpret_cast<const float4*>(beta);
    float4* out = reinterpret_cast<float4*>(y);
    if (D % 4 != 0 || each > VECTORS) {
        normalise_any<<<N, THREADS>>>(x, gamma, beta, y, D);
    } else if (each == 1) {
        normalise_in_registers<1><<<N, THREADS>>>(in, scales, shifts, out, D);
    } else if (each == 2) {
        normalise_in_registers<2><<<N, THREADS>>>(in, scales, shifts, out, D);
    } else if (each <= 4) {
        normalise_in_registers<4><<<N, THREADS>>>(in, scales, shifts, out, D);
    } else {
        normalise_in_registers<VECTORS><<<N, THREADS>>>(in, scales, shifts, out, D);
    }
}
