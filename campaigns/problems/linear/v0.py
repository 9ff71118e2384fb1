"""A linear layer and its gradients, the plain way: one tiled product, told how its operands lie."""

import triton
import triton.language as tl


@triton.jit
def product_tiles(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    K,
    N,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + inner
        a_mask = (rows[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        a_at = a_ptr + rows[:, None] * a_row + k[None, :] * a_column
        b_at = b_ptr + k[:, None] * b_row + columns[None, :] * b_column
        a = tl.load(a_at, mask=a_mask, other=0.0)
        b = tl.load(b_at, mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=c_mask)


def product(a, b, c, sizes, a_steps, b_steps):
    block = 64
    M, K, N = sizes
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    product_tiles[grid](
        *(a, b, c, M, K, N, *a_steps, *b_steps), BLOCK_M=block, BLOCK_N=block, BLOCK_K=32
    )


def run_kernel(x, w, dy, y, dx, dw, M, K, N, BACKWARD):
    if BACKWARD:
        product(dy, w, dx, (M, N, K), (N, 1), (1, N))
        product(x, dy, dw, (K, M, N), (1, K), (N, 1))
    else:
        product(x, w, y, (M, K, N), (K, 1), (N, 1))
