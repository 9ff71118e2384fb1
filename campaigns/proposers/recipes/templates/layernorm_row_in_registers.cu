// Layer normalisation that reads and writes global memory once: a warp per row of up to 512 values,
// a block per longer one. Rows of up to THREADS * 4 * VECTORS values whose length is a multiple of 4
// stay in registers.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int VECTORS = 8;
enum { WARP = 32 };  // What the chip has; not a choice.
constexpr float EPSILON = 1e-5f;
constexpr unsigned ALL_LANES = 0xffffffffu;

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
    __syncthreads();
    return value;
}

template <int COUNT, int LANES>
__global__ void normalise_in_registers(const float4* x, const float4* gamma, const float4* beta,
                                       float4* y, int N, int D) {
    const int vectors = D / 4;
    const long mine = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (mine >= N) return;
    const long row = mine * vectors;
    float4 held[COUNT];
    float sum = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * LANES + threadIdx.x;
        held[v] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (j < vectors) held[v] = x[row + j];
        sum += (held[v].x + held[v].y) + (held[v].z + held[v].w);
    }
    const float mean = row_sum<LANES>(sum) / D;
    float squares = 0.0f;
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        if (v * LANES + threadIdx.x >= vectors) continue;
        const float a = held[v].x - mean, b = held[v].y - mean;
        const float c = held[v].z - mean, d = held[v].w - mean;
        held[v] = make_float4(a, b, c, d);
        squares += (a * a + b * b) + (c * c + d * d);
    }
    const float scale = rsqrtf(row_sum<LANES>(squares) / D + EPSILON);
#pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int j = v * LANES + threadIdx.x;
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
    const float mean = row_sum<THREADS>(sum) / D;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        squares += (in[j] - mean) * (in[j] - mean);
    }
    const float scale = rsqrtf(row_sum<THREADS>(squares) / D + EPSILON);
    for (int j = threadIdx.x; j < D; j += blockDim.x) {
        out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
    }
}

// Several rows per block where a row has fewer lanes than a block has threads.
template <int COUNT, int LANES>
void launch(const float* x, const float* gamma, const float* beta, float* y, int N, int D) {
    const int rows = THREADS / LANES;
    normalise_in_registers<COUNT, LANES><<<(N + rows - 1) / rows, dim3(LANES, rows)>>>(
        reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(gamma),
        reinterpret_cast<const float4*>(beta), reinterpret_cast<float4*>(y), N, D);
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int N,
                      int D) {
    const int each = (D + 4 * THREADS - 1) / (4 * THREADS);
    if (D % 4 != 0 || each > VECTORS) {
        normalise_any<<<N, THREADS>>>(x, gamma, beta, y, D);
    } else if (D <= 4 * WARP) {
        launch<1, WARP>(x, gamma, beta, y, N, D);
    } else if (D <= 16 * WARP) {
        launch<4, WARP>(x, gamma, beta, y, N, D);
    } else if (each == 1) {
        launch<1, THREADS>(x, gamma, beta, y, N, D);
    } else if (each == 2) {
        launch<2, THREADS>(x, gamma, beta, y, N, D);
    } else if (each <= 4) {
        launch<4, THREADS>(x, gamma, beta, y, N, D);
    } else {
        launch<VECTORS, THREADS>(x, gamma, beta, y, N, D);
    }
}
