// Sum of all values, the plain way: a block adds up its part in shared memory, then to the answer.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int BLOCKS = 1024;
static_assert((THREADS & (THREADS - 1)) == 0, "sums are halved until one is left");

__global__ void clear(float* total) {
    *total = 0.0f;
}

__global__ void add_values(const float* input, float* total, int N) {
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (long i = static_cast<long>(blockIdx.x) * THREADS + threadIdx.x; i < N;
         i += static_cast<long>(BLOCKS) * THREADS) {
        sum += input[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    clear<<<1, 1>>>(output);
    add_values<<<BLOCKS, THREADS>>>(input, output, N);
}
