// Row softmax, the plain way: one thread per row and three passes over global memory.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void softmax_rows(const float* input, float* output, int N, int D) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    const float* x = input + static_cast<long>(row) * D;
    float* y = output + static_cast<long>(row) * D;
    float peak = x[0];
    for (int j = 0; j < D; ++j) {
        peak = fmaxf(peak, x[j]);
    }
    float total = 0.0f;
    for (int j = 0; j < D; ++j) {
        y[j] = expf(x[j] - peak);
        total += y[j];
    }
    for (int j = 0; j < D; ++j) {
        y[j] /= total;
    }
}

extern "C" void solve(float* input, float* output, int N, int D) {
    softmax_rows<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, N, D);
}
