// A block computes ROWS x COLUMNS outputs from tiles in shared memory. Each of its threads keeps
// DOWN x ACROSS sums in registers, whose rows and columns lie a stride apart.
constexpr int ROWS = $tile_rows;
constexpr int COLUMNS = $tile_columns;
constexpr int DEPTH = 16;
constexpr int DOWN = $down;
constexpr int ACROSS = $across;
constexpr int ROW_STRIDE = ROWS / DOWN;
constexpr int COLUMN_STRIDE = COLUMNS / ACROSS;
constexpr int PRODUCT_THREADS = ROW_STRIDE * COLUMN_STRIDE;
static_assert(ROWS % DOWN == 0 && COLUMNS % ACROSS == 0, "threads share a tile evenly");

$head{
    __shared__ float left_tile[DEPTH][ROWS + 1], right_tile[DEPTH][COLUMNS + 1];
    const int top = blockIdx.y * ROWS, leftmost = blockIdx.x * COLUMNS;
    const int from_top = threadIdx.x / COLUMN_STRIDE, from_left = threadIdx.x % COLUMN_STRIDE;
    float sums[DOWN][ACROSS] = {};
    for (int begin = 0; begin < $depth; begin += DEPTH) {
        for (int place = threadIdx.x; place < ROWS * DEPTH; place += PRODUCT_THREADS) {
            const int $row = top + place / DEPTH, $k = begin + place % DEPTH;
            float factor = 0.0f;
            if ($row < $rows && $k < $depth) {
                ${left_needs}factor = $left;
            }
            left_tile[$k - begin][$row - top] = factor;
        }
        for (int place = threadIdx.x; place < COLUMNS * DEPTH; place += PRODUCT_THREADS) {
            const int $column = leftmost + $right_column, $k = begin + $right_k;
            float factor = 0.0f;
            if ($column < $columns && $k < $depth) {
                ${right_needs}factor = $right;
            }
            right_tile[$k - begin][$column - leftmost] = factor;
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) {
            float of_row[DOWN], of_column[ACROSS];
#pragma unroll
            for (int r = 0; r < DOWN; ++r) {
                of_row[r] = left_tile[step][from_top + r * ROW_STRIDE];
            }
#pragma unroll
            for (int c = 0; c < ACROSS; ++c) {
                of_column[c] = right_tile[step][from_left + c * COLUMN_STRIDE];
            }
#pragma unroll
            for (int r = 0; r < DOWN; ++r) {
#pragma unroll
                for (int c = 0; c < ACROSS; ++c) {
                    sums[r][c] += of_row[r] * of_column[c];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < DOWN; ++r) {
#pragma unroll
        for (int c = 0; c < ACROSS; ++c) {
            const int $row = top + from_top + r * ROW_STRIDE;
            const int $column = leftmost + from_left + c * COLUMN_STRIDE;
            if ($row >= $rows || $column >= $columns) continue;
            ${needs}float $sum = sums[r][c];
            $ending
        }
    }
}
