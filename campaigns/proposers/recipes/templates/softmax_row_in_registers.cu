// Row softmax that reads and writes global memory once: a warp per row of up to 512 values, a block
// per longer one. Rows of up to THREADS * 4 * VECTORS values whose length is a multiple of 4 stay in
// registers.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int VECTORS = 8;
enum { WARP = 32 };  // What the chip has; not a choice.
constexpr unsigned ALL_LANES = 0xffffffffu;

// The largest value over the LANES threads of a row, known to each of them.
template <int LANES>
__device__ float row_max(float value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, offset));
    }
    if (LANES == WARP) return value;
    __shared__ float parts[LANES / WARP];
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < LANES / WARP; ++warp) {
        value = fmaxf(value, parts[warp]);
    }
    return value;
}

// The sum over the LANES threads of a row, known to each of them.
template <int LANES>
__device__ float row_sum(float value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, offset);
    }
    if (LANES == WARP) return value;
    __shared__ float parts[LANES / WARP];
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < LANES / WARP; ++warp) {
        value += parts[warp];
    }
    return value;
}

template <int COUNT, int LANES>
__global__ void softmax_in_registers(const float* input, float* output, int N, int D) {
    const int vectors = D / 4;
    const long row = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= N) return;
    const float4* x = reinterpret_cast<const float4*>(input) + row * vectors;
    float4* y = reinterpret_cast<float4*>(output) + row * vectors;
    float4 held[COUNT];
    float peak = -INFINITY;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * LANES + threadIdx.x;
        held[v] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (j < vectors) held[v] = x[j];
        peak = fmaxf(peak, fmaxf(fmaxf(held[v].x, held[v].y), fmaxf(held[v].z, held[v].w)));
    }
    peak = row_max<LANES>(peak);
    float total = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        held[v].x = expf(held[v].x - peak);
        held[v].y = expf(held[v].y - peak);
        held[v].z = expf(held[v].z - peak);
        held[v].w = expf(held[v].w - peak);
        total += (held[v].x + held[v].y) + (held[v].z + held[v].w);
    }
    const float scale = 1.0f / row_sum<LANES>(total);
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * LANES + threadIdx.x;
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
    peak = row_max<THREADS>(peak);
    float total = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        total += expf(x[j] - peak);
    }
    const float scale = 1.0f / row_sum<THREADS>(total);
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        y[j] = expf(x[j] - peak) * scale;
    }
}

// Several rows per block where a row has fewer lanes than a block has threads.
template <int COUNT, int LANES>
void launch(const float* input, float* output, int N, int D) {
    const int rows = THREADS / LANES;
    softmax_in_registers<COUNT, LANES>
        <<<(N + rows - 1) / rows, dim3(LANES, rows)>>>(input, output, N, D);
}

extern "C" void solve(float* input, float* output, int N, int D) {
    const int each = (D + 4 * THREADS - 1) / (4 * THREADS);
    if (D % 4 != 0 || each > VECTORS) {
        softmax_any<<<N, THREADS>>>(input, output, D);
    } else if (D <= 4 * WARP) {
        launch<1, WARP>(input, output, N, D);
    } else if (D <= 16 * WARP) {
        launch<4, WARP>(input, output, N, D);
    } else if (each == 1) {
        launch<1, THREADS>(input, output, N, D);
    } else if (each == 2) {
        launch<2, THREADS>(input, output, N, D);
    } else if (each <= 4) {
        launch<4, THREADS>(input, output, N, D);
    } else {
        launch<VECTORS, THREADS>(input, output, N, D);
    }
}
