#include <mma.h>

// Tensor cores multiply tiles of 16 x 16. A block computes ROWS x COLUMNS outputs from tiles in
// shared memory; its warps lie WARPS_DOWN x WARPS_ACROSS over them.
constexpr int ROWS = $tile_rows;
constexpr int COLUMNS = $tile_columns;
constexpr int DEPTH = 32;
constexpr int WARPS_DOWN = $down;
constexpr int WARPS_ACROSS = $across;
constexpr int PRODUCT_THREADS = WARPS_DOWN * WARPS_ACROSS * 32;
constexpr int TILES_DOWN = ROWS / WARPS_DOWN / 16;
constexpr int TILES_ACROSS = COLUMNS / WARPS_ACROSS / 16;
static_assert(ROWS == TILES_DOWN * WARPS_DOWN * 16 && DEPTH % 16 == 0, "whole tiles");
static_assert(COLUMNS == TILES_ACROSS * WARPS_ACROSS * 16, "whole tiles");
// So many values fill 16 bytes. Lines of a tile are longer by them, so that banks do not collide.
#define RUN 8

// Copies RUN neighbours, of which those from `count` on are zeros.
__device__ void copy_run(__nv_bfloat16* to, const __nv_bfloat16* from, int count) {
    if (count >= RUN && reinterpret_cast<size_t>(from) % 16 == 0) {
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
        return;
    }
    for (int n = 0; n < RUN; ++n) {
        to[n] = n < count ? from[n] : __float2bfloat16(0.0f);
    }
}

$head{
    namespace wmma = nvcuda::wmma;
    __shared__ __align__(32) __nv_bfloat16 left_tile[ROWS][DEPTH + RUN];
    __shared__ __align__(32) __nv_bfloat16 right_tile$right_shape;
    __shared__ __align__(32) float answers[PRODUCT_THREADS / 32][16][20];
    const int top = blockIdx.y * ROWS, leftmost = blockIdx.x * COLUMNS;
    const int warp = threadIdx.x / 32;
    const int warp_top = warp / WARPS_ACROSS * TILES_DOWN * 16;
    const int warp_left = warp % WARPS_ACROSS * TILES_ACROSS * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[TILES_DOWN][TILES_ACROSS];
#pragma unroll
    for (int r = 0; r < TILES_DOWN; ++r) {
#pragma unroll
        for (int c = 0; c < TILES_ACROSS; ++c) {
            wmma::fill_fragment(sums[r][c], 0.0f);
        }
    }
    for (int begin = 0; begin < $depth; begin += DEPTH) {
        for (int place = threadIdx.x * RUN; place < ROWS * DEPTH; place += PRODUCT_THREADS * RUN) {
            const int $row = top + place / DEPTH, $k = begin + place % DEPTH;
            ${left_needs}const int count = $row < $rows ? $depth - $k : 0;
            copy_run(&left_tile[$row - top][$k - begin], &$left_value, count);
        }
        for (int place = threadIdx.x * RUN; place < COLUMNS * DEPTH;
             place += PRODUCT_THREADS * RUN) {
            const int $column = leftmost + $right_column, $k = begin + $right_k;
            ${right_needs}const int count = $right_count;
            copy_run(&right_tile$right_place, &$right_value, count);
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_rows;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::$right_order>
                of_columns[TILES_ACROSS];
#pragma unroll
            for (int c = 0; c < TILES_ACROSS; ++c) {
                const int aside = warp_left + c * 16;
                wmma::load_matrix_sync(of_columns[c], &right_tile$right_tile, $right_line);
            }
#pragma unroll
            for (int r = 0; r < TILES_DOWN; ++r) {
                wmma::load_matrix_sync(of_rows, &left_tile[warp_top + r * 16][step], DEPTH + RUN);
#pragma unroll
                for (int c = 0; c < TILES_ACROSS; ++c) {
                    wmma::mma_sync(sums[r][c], of_rows, of_columns[c], sums[r][c]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TILES_DOWN; ++r) {
#pragma unroll
        for (int c = 0; c < TILES_ACROSS; ++c) {
            wmma::store_matrix_sync(&answers[warp][0][0], sums[r][c], 20, wmma::mem_row_major);
            __syncwarp();
            for (int place = threadIdx.x % 32; place < 256; place += 32) {
                const int $row = top + warp_top + r * 16 + place / 16;
                const int $column = leftmost + warp_left + c * 16 + place % 16;
                if ($row >= $rows || $column >= $columns) continue;
                ${needs}float $sum = answers[warp][place / 16][place % 16];
                $ending
            }
            __syncwarp();
        }
    }
}
