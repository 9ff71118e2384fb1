"""Transpose, the plain way: one program per tile, which it writes as it has read it."""

import triton
import triton.language as tl


@triton.jit
def transpose_tiles(x_ptr, y_ptr, N, D, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (rows[:, None] < N) & (columns[None, :] < D)
    x = tl.load(x_ptr + rows[:, None] * D + columns[None, :], mask=inside)
    tl.store(y_ptr + columns[None, :] * N + rows[:, None], x, mask=inside)


def run_kernel(input, output, N, D):
    block = 32
    grid = (triton.cdiv(N, block), triton.cdiv(D, block))
    transpose_tiles[grid](input, output, N, D, BLOCK=block)
