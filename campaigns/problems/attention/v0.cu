// Attention, the plain way: one warp per query, one key after the other, heads spread over lanes.
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

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                       __nv_bfloat16* o, int H, int HKV, int S, int D, int CAUSAL) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= S) return;
    long head = blockIdx.y;
    long shared = head / H * HKV + head % H / (H / HKV);
    const __nv_bfloat16* query = q + (head * S + row) * D;
    float scale = rsqrtf(D);
    float own[VALUES], mixed[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + lane;
        own[i] = d < D ? __bfloat162float(query[d]) * scale : 0.0f;
        mixed[i] = 0.0f;
    }
    float peak = -INFINITY;
    float total = 0.0f;
    int end = CAUSAL ? row + 1 : S;
    for (int j = 0; j < end; ++j) {
        const __nv_bfloat16* key = k + (shared * S + j) * D;
        const __nv_bfloat16* value = v + (shared * S + j) * D;
        float part = 0.0f;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) part += own[i] * __bfloat162float(key[d]);
        }
        float score = sum_of_warp(part);
        float higher = fmaxf(peak, score);
        float shrink = expf(peak - higher);
        float power = expf(score - higher);
        total = total * shrink + power;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) mixed[i] = mixed[i] * shrink + power * __bfloat162float(value[d]);
        }
        peak = higher;
    }
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int d = i * 32 + lane;
        if (d < D) o[(head * S + row) * D + d] = __float2bfloat16(mixed[i] / total);
    }
}

extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                      __nv_bfloat16* o, int B, int H, int HKV, int S, int D, int CAUSAL) {
    dim3 blocks((S + WARPS - 1) / WARPS, B * H);
    attend<<<blocks, WARPS * 32>>>(q, k, v, o, H, HKV, S, D, CAUSAL);
}
