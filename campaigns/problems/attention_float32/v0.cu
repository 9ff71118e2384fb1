// Multi-head attention, the plain way: one warp per query, heads spread over lanes.
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

__global__ void attend(const float* q, const float* k, const float* v, float* o, int S, int D) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= S) return;
    long head = blockIdx.y;
    const float* query = q + (head * S + row) * D;
    float scale = 1.0f / sqrtf(D);
    float own[VALUES], mixed[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + lane;
        own[i] = d < D ? query[d] : 0.0f;
        mixed[i] = 0.0f;
    }
    float peak = -INFINITY;
    float total = 0.0f;
    for (int j = 0; j < S; ++j) {
        const float* key = k + (head * S + j) * D;
        const float* value = v + (head * S + j) * D;
        float part = 0.0f;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) part += own[i] * key[d];
        }
        float score = sum_of_warp(part) * scale;
        float higher = fmaxf(peak, score);
        float shrink = expf(peak - higher);
        float power = expf(score - higher);
        total = total * shrink + power;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) mixed[i] = mixed[i] * shrink + power * value[d];
        }
        peak = higher;
    }
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + lane;
        if (d < D) o[(head * S + row) * D + d] = mixed[i] / total;
    }
}

extern "C" void solve(const float* q, const float* k, const float* v, float* o, int B, int H, int S,
                      int D) {
    dim3 blocks((S + WARPS - 1) / WARPS, B * H);
    attend<<<blocks, WARPS * 32>>>(q, k, v, o, S, D);
}
