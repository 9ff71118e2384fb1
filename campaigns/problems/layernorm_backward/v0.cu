// Gradients of layer normalisation, the plain way: one thread per row, then one per column.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void gradient_of_rows(const __nv_bfloat16* dy, const __nv_bfloat16* x,
                                 const float* mean, const float* rstd, const __nv_bfloat16* weight,
                                 __nv_bfloat16* dx, int N, int D) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    long first = static_cast<long>(row) * D;
    float plain = 0.0f;
    float parallel = 0.0f;
    for (int j = 0; j < D; ++j) {
        float scaled = __bfloat162float(dy[first + j]) * __bfloat162float(weight[j]);
        plain += scaled;
        parallel += scaled * (__bfloat162float(x[first + j]) - mean[row]) * rstd[row];
    }
    plain /= D;
    parallel /= D;
    for (int j = 0; j < D; ++j) {
        float scaled = __bfloat162float(dy[first + j]) * __bfloat162float(weight[j]);
        float normal = (__bfloat162float(x[first + j]) - mean[row]) * rstd[row];
        dx[first + j] = __float2bfloat16((scaled - plain - normal * parallel) * rstd[row]);
    }
}

__global__ void gradients_of_columns(const __nv_bfloat16* dy, const __nv_bfloat16* x,
                                     const float* mean, const float* rstd, __nv_bfloat16* dweight,
                                     __nv_bfloat16* dbias, int N, int D) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= D) return;
    float of_weight = 0.0f;
    float of_bias = 0.0f;
    for (int i = 0; i < N; ++i) {
        long place = static_cast<long>(i) * D + column;
        float gradient = __bfloat162float(dy[place]);
        of_weight += gradient * (__bfloat162float(x[place]) - mean[i]) * rstd[i];
        of_bias += gradient;
    }
    dweight[column] = __float2bfloat16(of_weight);
    dbias[column] = __float2bfloat16(of_bias);
}

extern "C" void solve(const __nv_bfloat16* dy, const __nv_bfloat16* x, const float* mean,
                      const float* rstd, const __nv_bfloat16* weight, __nv_bfloat16* dx,
                      __nv_bfloat16* dweight, __nv_bfloat16* dbias, int N, int D) {
    gradient_of_rows<<<(N + THREADS - 1) / THREADS, THREADS>>>(dy, x, mean, rstd, weight, dx, N,
                                                               D);
    gradients_of_columns<<<(D + THREADS - 1) / THREADS, THREADS>>>(dy, x, mean, rstd, dweight,
                                                                   dbias, N, D);
}
