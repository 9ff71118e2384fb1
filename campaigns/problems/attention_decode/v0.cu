// Paged attention while decoding, the plain way: one block per query head, whose warps take the
// tokens in turns and put their sums together at the end.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int WARPS = 4;
// Values of a head in each lane, enough for heads of 256.
constexpr int VALUES = 256 / 32;

__device__ float sum_of_warp(float value) {
    for (int other = 16; other > 0; other /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, other);
    }
    return value;
}

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* k_pages,
                       const __nv_bfloat16* v_pages, const int* block_table, const int* lengths,
                       __nv_bfloat16* o, int H, int HKV, int D, int PAGES, int PAGE) {
    __shared__ float mixed_of[WARPS][VALUES * 32];
    __shared__ float peak_of[WARPS], total_of[WARPS];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int sequence = blockIdx.x;
    int head = blockIdx.y;
    int shared = head / (H / HKV);
    const __nv_bfloat16* query = q + (static_cast<long>(sequence) * H + head) * D;
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
    int length = lengths[sequence];
    for (int t = warp; t < length; t += WARPS) {
        long page = block_table[static_cast<long>(sequence) * PAGES + t / PAGE];
        long at = ((page * PAGE + t % PAGE) * HKV + shared) * D;
        float part = 0.0f;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) part += own[i] * __bfloat162float(k_pages[at + d]);
        }
        float score = sum_of_warp(part);
        float higher = fmaxf(peak, score);
        float shrink = expf(peak - higher);
        float power = expf(score - higher);
        total = total * shrink + power;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            int d = i * 32 + lane;
            if (d < D) mixed[i] = mixed[i] * shrink + power * __bfloat162float(v_pages[at + d]);
        }
        peak = higher;
    }
    // Every sequence has a token, so the first warp's peak is finite.
    if (lane == 0) {
        peak_of[warp] = peak;
        total_of[warp] = total;
    }
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        mixed_of[warp][i * 32 + lane] = mixed[i];
    }
    __syncthreads();
    float highest = -INFINITY;
    for (int w = 0; w < WARPS; ++w) {
        highest = fmaxf(highest, peak_of[w]);
    }
    for (int d = threadIdx.x; d < D; d += WARPS * 32) {
        float sum = 0.0f, all = 0.0f;
        for (int w = 0; w < WARPS; ++w) {
            float shrink = expf(peak_of[w] - highest);
            sum += mixed_of[w][d] * shrink;
            all += total_of[w] * shrink;
        }
        o[(static_cast<long>(sequence) * H + head) * D + d] = __float2bfloat16(sum / all);
    }
}

extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k_pages,
                      const __nv_bfloat16* v_pages, const int* block_table, const int* lengths,
                      __nv_bfloat16* o, int B, int H, int HKV, int D, int PAGES, int PAGE) {
    dim3 blocks(B, H);
    attend<<<blocks, WARPS * 32>>>(q, k_pages, v_pages, block_table, lengths, o, H, HKV, D, PAGES,
                                  PAGE);
}
