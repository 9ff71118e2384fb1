// The largest values of a row, the plain way: one thread per row finds one after the other.
#include <cuda_runtime.h>

constexpr int THREADS = 64;

// Whether the score at `a` comes before that at `b`: it is larger, or as large and further left.
__device__ bool comes_before(const float* row, int a, int b) {
    return row[a] > row[b] || (row[a] == row[b] && a < b);
}

__global__ void largest_of_rows(const float* scores, float* values, int* indices, int N, int E,
                                int K) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* row = scores + static_cast<long>(i) * E;
    int last = -1;
    for (int k = 0; k < K; ++k) {
        int best = -1;
        for (int j = 0; j < E; ++j) {
            if (last >= 0 && !comes_before(row, last, j)) continue;
            if (best < 0 || comes_before(row, j, best)) best = j;
        }
        values[static_cast<long>(i) * K + k] = row[best];
        indices[static_cast<long>(i) * K + k] = best;
        last = best;
    }
}

extern "C" void solve(const float* scores, float* values, int* indices, int N, int E, int K) {
    largest_of_rows<<<(N + THREADS - 1) / THREADS, THREADS>>>(scores, values, indices, N, E, K);
}
