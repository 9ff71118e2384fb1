// Gradients of causal attention, the plain way: one warp per query walks over its keys for dq, and
// one warp per key walks over its queries for dk and dv. Heads are spread over lanes.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int WARPS = 8;
// Values of a head in each lane, enough for heads of 256.
constexpr int VALUES = 256 / 32;

__device__ float sum_of_warp(float value) {
    for (int other = 16; other > 0; other /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, other);
    }
    return value;
}

__device__ void read_row(const __nv_bfloat16* row, int D, float* values) {
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + threadIdx.x % 32;
        values[i] = d < D ? __bfloat162float(row[d]) : 0.0f;
    }
}

__device__ void write_row(__nv_bfloat16* row, int D, const float* values) {
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + threadIdx.x % 32;
        if (d < D) row[d] = __float2bfloat16(values[i]);
    }
}

__device__ float product(const float* a, const float* b) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        sum += a[i] * b[i];
    }
    return sum_of_warp(sum);
}

__device__ void add(float* sums, float factor, const float* values) {
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        sums[i] += factor * values[i];
    }
}

__global__ void gradient_of_queries(const __nv_bfloat16* dout, const __nv_bfloat16* q,
                                    const __nv_bfloat16* k, const __nv_bfloat16* v,
                                    const __nv_bfloat16* o, const float* lse, __nv_bfloat16* dq,
                                    int S, int D) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= S) return;
    long head = static_cast<long>(blockIdx.y) * S;
    float scale = rsqrtf(D);
    float query[VALUES], gradient[VALUES], answer[VALUES], key[VALUES], value[VALUES];
    float sums[VALUES] = {};
    read_row(q + (head + row) * D, D, query);
    read_row(dout + (head + row) * D, D, gradient);
    read_row(o + (head + row) * D, D, answer);
    float delta = product(gradient, answer);
    for (int j = 0; j <= row; ++j) {
        read_row(k + (head + j) * D, D, key);
        read_row(v + (head + j) * D, D, value);
        float share = expf(product(query, key) * scale - lse[head + row]);
        add(sums, share * (product(gradient, value) - delta) * scale, key);
    }
    write_row(dq + (head + row) * D, D, sums);
}

__global__ void gradients_of_keys(const __nv_bfloat16* dout, const __nv_bfloat16* q,
                                  const __nv_bfloat16* k, const __nv_bfloat16* v,
                                  const __nv_bfloat16* o, const float* lse, __nv_bfloat16* dk,
                                  __nv_bfloat16* dv, int S, int D) {
    int j = blockIdx.x * WARPS + threadIdx.x / 32;
    if (j >= S) return;
    long head = static_cast<long>(blockIdx.y) * S;
    float scale = rsqrtf(D);
    float query[VALUES], gradient[VALUES], answer[VALUES], key[VALUES], value[VALUES];
    float of_key[VALUES] = {}, of_value[VALUES] = {};
    read_row(k + (head + j) * D, D, key);
    read_row(v + (head + j) * D, D, value);
    for (int row = j; row < S; ++row) {
        read_row(q + (head + row) * D, D, query);
        read_row(dout + (head + row) * D, D, gradient);
        read_row(o + (head + row) * D, D, answer);
        float delta = product(gradient, answer);
        float share = expf(product(query, key) * scale - lse[head + row]);
        add(of_value, share, gradient);
        add(of_key, share * (product(gradient, value) - delta) * scale, query);
    }
    write_row(dk + (head + j) * D, D, of_key);
    write_row(dv + (head + j) * D, D, of_value);
}

extern "C" void solve(const __nv_bfloat16* dout, const __nv_bfloat16* q, const __nv_bfloat16* k,
                      const __nv_bfloat16* v, const __nv_bfloat16* o, const float* lse,
                      __nv_bfloat16* dq, __nv_bfloat16* dk, __nv_bfloat16* dv, int B, int H, int S,
                      int D) {
    dim3 blocks((S + WARPS - 1) / WARPS, B * H);
    gradient_of_queries<<<blocks, WARPS * 32>>>(dout, q, k, v, o, lse, dq, S, D);
    gradients_of_keys<<<blocks, WARPS * 32>>>(dout, q, k, v, o, lse, dk, dv, S, D);
}
