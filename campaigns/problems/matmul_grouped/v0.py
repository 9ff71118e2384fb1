"""Grouped matrix product, the plain way: tiles for every group, of which those too many end."""

import triton
import triton.language as tl


@triton.jit
def grouped_tiles(
    a_ptr,
    b_ptr,
    offsets_ptr,
    c_ptr,
    K,
    N,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    expert = tl.program_id(2)
    end = tl.load(offsets_ptr + expert + 1)
    first = tl.load(offsets_ptr + expert) + tl.program_id(1) * BLOCK_M
    if first >= end:
        return
    rows = first + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    matrix_ptr = b_ptr + expert.to(tl.int64) * K * N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + inner
        a_mask = (rows[:, None] < end) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(matrix_ptr + k[:, None] * N + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    c_mask = (rows[:, None] < end) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=c_mask)


def run_kernel(A, B, offsets, C, T, K, N, E):
    block_m, block_n = 64, 64
    # Any one group may have all rows.
    grid = (triton.cdiv(N, block_n), triton.cdiv(T, block_m), E)
    grouped_tiles[grid](*(A, B, offsets, C, K, N), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=32)
