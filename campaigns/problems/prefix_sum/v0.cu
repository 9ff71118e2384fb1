// Running sums, the plain way: within parts, then of the parts' sums, then both together. The sum
// of a part is its last running sum, so no memory beside the output is needed.
#include <cuda_runtime.h>

constexpr int PART = 4096;
constexpr int THREADS = 64;

// One thread per part.
__global__ void sums_in_parts(const float* input, float* output, int N, int parts) {
    int part = blockIdx.x * blockDim.x + threadIdx.x;
    if (part >= parts) return;
    long first = static_cast<long>(part) * PART;
    float sum = 0.0f;
    for (long i = first; i < first + PART && i < N; ++i) {
        sum += input[i];
        output[i] = sum;
    }
}

// One thread; all parts but the last, which may not be full.
__global__ void sums_of_parts(float* output, int parts) {
    float sum = 0.0f;
    for (int part = 0; part < parts - 1; ++part) {
        long end = static_cast<long>(part + 1) * PART - 1;
        sum += output[end];
        output[end] = sum;
    }
}

// One thread per value; the last sum of a part that another one follows is whole already.
__global__ void add_sums_before(float* output, int N, int parts) {
    long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
    long part = i / PART;
    if (i >= N || part == 0) return;
    if (i % PART == PART - 1 && part < parts - 1) return;
    output[i] += output[part * PART - 1];
}

extern "C" void solve(const float* input, float* output, int N) {
    int parts = (N + PART - 1) / PART;
    sums_in_parts<<<(parts + THREADS - 1) / THREADS, THREADS>>>(input, output, N, parts);
    sums_of_parts<<<1, 1>>>(output, parts);
    add_sums_before<<<(N + THREADS - 1) / THREADS, THREADS>>>(output, N, parts);
}
