// Kernels whose bottleneck is known, each in a naive and a good variant.
#include <cuda_bf16.h>
#include <cstdio>
#include <mma.h>
using namespace nvcuda;
constexpr int ROWS = 8192, COLS = 2048, N = 1024;

__global__ void softmax_naive(const float* x, float* y) {  // a thread a row: strided, too few blocks
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= ROWS) return;
  const float* in = x + (size_t)row * COLS;
  float peak = in[0], total = 0;
  for (int j = 0; j < COLS; ++j) peak = fmaxf(peak, in[j]);
  for (int j = 0; j < COLS; ++j) total += expf(in[j] - peak);
  for (int j = 0; j < COLS; ++j) y[(size_t)row * COLS + j] = expf(in[j] - peak) / total;
}
__device__ float whole(float v, bool is_max, float* part) {
  for (int o = 16; o; o >>= 1) { float w = __shfl_xor_sync(~0u, v, o); v = is_max ? fmaxf(v, w) : v + w; }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (int k = 1; k < blockDim.x / 32; ++k) v = is_max ? fmaxf(v, part[k]) : v + part[k];
  return v;
}
__global__ void softmax_good(const float4* x, float4* y) {  // a block a row, read once: memory
  __shared__ float part[16];
  size_t at = (size_t)blockIdx.x * COLS / 4 + threadIdx.x;
  float4 v = x[at];
  float peak = whole(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), true, part);
  v = {__expf(v.x - peak), __expf(v.y - peak), __expf(v.z - peak), __expf(v.w - peak)};
  float f = 1 / whole(v.x + v.y + v.z + v.w, false, part);
  y[at] = {v.x * f, v.y * f, v.z * f, v.w * f};
}
__global__ void reduce_naive(const float* x, float* out, int n) {  // an atomic a value, at one place
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + (i & 1), x[i] * (i % 7 ? 1.f : 2.f));
}
__global__ void reduce_good(const float4* x, float* out, int n4) {
  __shared__ float part[16];
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    total += v.x + v.y + v.z + v.w;
  }
  total = whole(total, false, part);
  if (threadIdx.x == 0) atomicAdd(out, total);
}
__global__ void transpose_naive(const float* x, float* y) {  // stores of a warp 16 KiB apart
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  y[(size_t)c * 4096 + r] = x[(size_t)r * 4096 + c];
}
__global__ void transpose_conflicts(const float* x, float* y) {  // a tile without padding
  __shared__ float tile[32][32];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(size_t)(r + k) * 4096 + c];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(size_t)(blockIdx.x * 32 + k) * 4096 + r + threadIdx.x] = tile[threadIdx.x][k];
}
__global__ void transpose_good(const float* x, float* y) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(size_t)(r + k) * 4096 + c];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(size_t)(blockIdx.x * 32 + k) * 4096 + r + threadIdx.x] = tile[threadIdx.x][k];
}
__global__ void gemm_naive(const float* a, const float* b, float* c) {  // two loads a product
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float total = 0;
  for (int k = 0; k < N; ++k) total += a[i * N + k] * b[k * N + j];
  c[i * N + j] = total;
}
__global__ void __launch_bounds__(256) gemm_good(const float* a, const float* b, float* c) {  // 8x8 a thread
  __shared__ float as[8][128 + 4], bs[8][128];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;
  float acc[8][8] = {};
  for (int k0 = 0; k0 < 2 * N; k0 += 8) {
    float4 v = *(const float4*)(a + (size_t)(i0 + threadIdx.x / 2) * 2 * N + k0 + threadIdx.x % 2 * 4);
    int q = threadIdx.x % 2 * 4, r = threadIdx.x / 2;
    as[q][r] = v.x, as[q + 1][r] = v.y, as[q + 2][r] = v.z, as[q + 3][r] = v.w;
    *(float4*)&bs[threadIdx.x / 32][threadIdx.x % 32 * 4] =
        *(const float4*)(b + (size_t)(k0 + threadIdx.x / 32) * 2 * N + j0 + threadIdx.x % 32 * 4);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float x[8], y[8];
      for (int m = 0; m < 8; ++m) x[m] = as[k][ty * 8 + m];
      for (int m = 0; m < 4; ++m) y[m] = bs[k][tx * 4 + m], y[m + 4] = bs[k][64 + tx * 4 + m];
      for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 8; ++n) acc[m][n] += x[m] * y[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < 8; ++m)
    for (int n = 0; n < 8; ++n)
      c[(size_t)(i0 + ty * 8 + m) * 2 * N + j0 + (n < 4 ? 0 : 60) + tx * 4 + n] = acc[m][n];
}
__global__ void bf16_naive(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {  // no tensor core
  __shared__ __nv_bfloat16 as[32][34], bs[32][34];
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
  float total = 0;
  for (int k0 = 0; k0 < N; k0 += 32) {
    as[threadIdx.y][threadIdx.x] = a[i * N + k0 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * N + j];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      total += __bfloat162float(as[threadIdx.y][k]) * __bfloat162float(bs[k][threadIdx.x]);
    __syncthreads();
  }
  c[i * N + j] = total;
}
__global__ void bf16_good(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {  // 64x64 a warp
  int warp = threadIdx.x / 32, i0 = blockIdx.y * 128 + warp / 2 * 64, j0 = blockIdx.x * 128 + warp % 2 * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][4];
  for (int p = 0; p < 16; ++p) wmma::fill_fragment(acc[p / 4][p % 4], 0.f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x[4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y[4];
    for (int p = 0; p < 4; ++p) {
      wmma::load_matrix_sync(x[p], a + (size_t)(i0 + 16 * p) * n + k, n);
      wmma::load_matrix_sync(y[p], b + (size_t)k * n + j0 + 16 * p, n);
    }
    for (int p = 0; p < 16; ++p) wmma::mma_sync(acc[p / 4][p % 4], x[p / 4], y[p % 4], acc[p / 4][p % 4]);
  }
  for (int p = 0; p < 16; ++p)
    wmma::store_matrix_sync(c + (size_t)(i0 + p / 4 * 16) * n + j0 + p % 4 * 16, acc[p / 4][p % 4], n, wmma::mem_row_major);
}
__global__ void layernorm_naive(const float* x, float* y) {  // a thread a row
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= ROWS) return;
  float s = 0, q = 0;
  for (int j = 0; j < COLS; ++j) s += x[(size_t)row * COLS + j];
  for (int j = 0; j < COLS; ++j) { float d = x[(size_t)row * COLS + j] - s / COLS; q += d * d; }
  for (int j = 0; j < COLS; ++j) y[(size_t)row * COLS + j] = (x[(size_t)row * COLS + j] - s / COLS) * rsqrtf(q / COLS + 1e-5f);
}
__global__ void layernorm_good(const float4* x, float4* y) {
  __shared__ float part[16];
  size_t at = (size_t)blockIdx.x * COLS / 4 + threadIdx.x;
  float4 v = x[at];
  float mean = whole(v.x + v.y + v.z + v.w, false, part) / COLS;
  v = {v.x - mean, v.y - mean, v.z - mean, v.w - mean};
  float f = rsqrtf(whole(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, false, part) / COLS + 1e-5f);
  y[at] = {v.x * f, v.y * f, v.z * f, v.w * f};
}
__device__ unsigned mixed(unsigned v) { v ^= v >> 16; v *= 0x7feb352dU; v ^= v >> 15; v *= 0x846ca68bU; return v ^ v >> 16; }
__global__ void gather_naive(const float* table, float* y, int n) {  // four bytes from anywhere
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[mixed(i) % n];
}
__global__ void gather_good(const float4* table, float4* y, int rows) {  // rows of 512 bytes
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[(size_t)(mixed(i / 32) % rows) * 32 + i % 32];
}
__global__ void histogram_naive(const float* x, int* bins, int n) {  // few bins in global memory
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + (__float_as_uint(x[i]) >> 10) % 4, 1);
}
__global__ void histogram_good(const float4* x, int* bins, int n4) {
  __shared__ int own[8][256];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) own[k / 256][k % 256] = 0;
  __syncthreads();
  int* mine = own[threadIdx.x / 32 % 8];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    atomicAdd(mine + __float_as_uint(v.x) / 1024 % 256, 1), atomicAdd(mine + __float_as_uint(v.y) / 1024 % 256, 1);
    atomicAdd(mine + __float_as_uint(v.z) / 1024 % 256, 1), atomicAdd(mine + __float_as_uint(v.w) / 1024 % 256, 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    int total = 0;
    for (int p = 0; p < 8; ++p) total += own[p][k];
    atomicAdd(bins + k, total);
  }
}
__global__ void tiny_naive(float* y) { y[threadIdx.x] += 1; }  // one block: the launch
__global__ void tiny_good(float4* y) {  // the same work for a whole array at once
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = y[i];
  y[i] = {v.x + 1, v.y + 1, v.z + 1, v.w + 1};
}
__global__ void __launch_bounds__(1024) tail_naive(float* y, int steps) {  // one block more than fit
  extern __shared__ float big[];
  float a = threadIdx.x, b = 1.0001f, c = blockIdx.x, d = 2;
  for (int k = 0; k < steps; ++k) a = a * b + .5f, c = c * b + .25f, d = d * b + .125f;
  big[threadIdx.x] = a;
  y[blockIdx.x * 1024 + threadIdx.x] = a + c + d + big[threadIdx.x ^ 1];
}
__global__ void __launch_bounds__(256) tail_good(float* y, int steps) {
  float a = threadIdx.x, b = 1.0001f, c = blockIdx.x, d = 2, e = 3;
  for (int k = 0; k < steps; ++k) a = a * b + .5f, c = c * b + .25f, d = d * b + .125f, e = e * b + .1f;
  y[blockIdx.x * 256 + threadIdx.x] = a + c + d + e;
}
template <int KEPT> __device__ void many(const float* x, float* y, int n) {
  float v[KEPT];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < KEPT; ++k) v[k] = x[(i + k * 131) % n];
  for (int s = 0; s < 8; ++s)
#pragma unroll
    for (int k = 0; k < KEPT; ++k) v[k] = v[k] * v[(k + 17) % KEPT] + v[(k + 41) % KEPT];
  float t = 0;
#pragma unroll
  for (int k = 0; k < KEPT; ++k) t += v[k];
  y[i] = t;
}
__global__ void __launch_bounds__(256, 8) spills_naive(const float* x, float* y, int n) { many<96>(x, y, n); }
__global__ void __launch_bounds__(256, 1) spills_good(const float* x, float* y, int n) { many<96>(x, y, n); }

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = (mixed(i) & 0xffff) / 65536.f;
}

int main() {
  float *x, *y; size_t bytes = (size_t)64 << 20;
  cudaMalloc(&x, 2 * bytes); cudaMalloc(&y, 2 * bytes);
  fill<<<2 * bytes / 4 / 256, 256>>>(x); cudaMemset(y, 0, 2 * bytes);
  int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  auto bx = (const __nv_bfloat16*)x; auto f4 = (const float4*)x; auto o4 = (float4*)y; int n = bytes / 4;
  softmax_naive<<<ROWS / 128, 128>>>(x, y); softmax_good<<<ROWS, COLS / 4>>>(f4, o4);
  reduce_naive<<<n / 8 / 256, 256>>>(x, y, n / 8); reduce_good<<<sms * 4, 512>>>(f4, y, n / 4);
  transpose_naive<<<dim3(128, 512), dim3(32, 8)>>>(x, y); transpose_conflicts<<<dim3(128, 128), dim3(32, 8)>>>(x, y);
  transpose_good<<<dim3(128, 128), dim3(32, 8)>>>(x, y);
  gemm_naive<<<dim3(64, 64), dim3(16, 16)>>>(x, x, y); gemm_good<<<dim3(16, 16), 256>>>(x, x, y);
  bf16_naive<<<dim3(32, 32), dim3(32, 32)>>>(bx, bx, y); bf16_good<<<dim3(32, 32), 128>>>(bx, bx, y, 4096);
  layernorm_naive<<<ROWS / 128, 128>>>(x, y); layernorm_good<<<ROWS, COLS / 4>>>(f4, o4);
  gather_naive<<<n / 256, 256>>>(x, y, n); gather_good<<<n / 4 / 256, 256>>>(f4, o4, n / 128);
  histogram_naive<<<n / 4 / 256, 256>>>(x, (int*)y, n / 4); histogram_good<<<sms * 4, 256>>>(f4, (int*)y, n / 4);
  tiny_naive<<<1, 64>>>(y); tiny_good<<<n / 4 / 256, 256>>>(o4);
  cudaFuncSetAttribute(tail_naive, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
  tail_naive<<<sms + 1, 1024, 200 << 10>>>(y, 20000); tail_good<<<sms * 64, 256>>>(y, 2000);
  spills_naive<<<2048, 256>>>(x, y, n); spills_good<<<2048, 256>>>(x, y, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
