// Rotary position embedding, the plain way: one thread per pair of values, q and k one by one.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void turn(const __nv_bfloat16* x, const float* cos, const float* sin, __nv_bfloat16* y,
                     long pairs, int S, int heads, int half) {
    long pair = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    long head = pair / half;
    int i = pair % half;
    int place = head / heads % S;
    float c = cos[place * half + i];
    float s = sin[place * half + i];
    long at = head * 2 * half + i;
    float a = __bfloat162float(x[at]);
    float b = __bfloat162float(x[at + half]);
    y[at] = __float2bfloat16(a * c - b * s);
    y[at + half] = __float2bfloat16(b * c + a * s);
}

extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const float* cos,
                      const float* sin, __nv_bfloat16* q_out, __nv_bfloat16* k_out, int B, int S,
                      int H, int HKV, int D) {
    long of_q = static_cast<long>(B) * S * H * (D / 2);
    long of_k = static_cast<long>(B) * S * HKV * (D / 2);
    turn<<<(of_q + THREADS - 1) / THREADS, THREADS>>>(q, cos, sin, q_out, of_q, S, H, D / 2);
    turn<<<(of_k + THREADS - 1) / THREADS, THREADS>>>(k, cos, sin, k_out, of_k, S, HKV, D / 2);
}
