// Histogram, the plain way: every thread raises the count of one value in global memory.
#include <cuda_runtime.h>

#include <cstdint>

constexpr int THREADS = 64;

__global__ void clear(int* counts) {
    int bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < 256) counts[bin] = 0;
}

__global__ void count_values(const uint8_t* values, int* counts, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(counts + values[i], 1);
}

extern "C" void solve(const uint8_t* values, int* counts, int N) {
    clear<<<(256 + THREADS - 1) / THREADS, THREADS>>>(counts);
    count_values<<<(N + THREADS - 1) / THREADS, THREADS>>>(values, counts, N);
}
