"""Convolution of 3 x 3, the plain way: one program per tile of y, and nine products in it."""

import triton
import triton.language as tl


@triton.jit
def conv_tiles(
    x_ptr,
    filters_ptr,
    y_ptr,
    N,
    H,
    W,
    C,
    F,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pixels = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    f = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    column = pixels % W
    row = pixels // W % H
    is_pixel = pixels < N * H * W
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for tap in range(9):
        i = row + tap // 3 - 1
        j = column + tap % 3 - 1
        inside = is_pixel & (i >= 0) & (i < H) & (j >= 0) & (j < W)
        place = pixels + (tap // 3 - 1) * W + (tap % 3 - 1)
        for start in range(0, C, BLOCK_K):
            c = start + inner
            x_mask = inside[:, None] & (c[None, :] < C)
            f_mask = (c[:, None] < C) & (f[None, :] < F)
            x = tl.load(x_ptr + place[:, None] * C + c[None, :], mask=x_mask, other=0.0)
            weight_at = filters_ptr + (f[None, :] * 9 + tap) * C + c[:, None]
            weight = tl.load(weight_at, mask=f_mask, other=0.0)
            total = tl.dot(x, weight, total)
    y_mask = is_pixel[:, None] & (f[None, :] < F)
    tl.store(y_ptr + pixels[:, None] * F + f[None, :], total.to(tl.bfloat16), mask=y_mask)


def run_kernel(x, filters, y, N, H, W, C, F):
    block_m, block_n = 64, 64
    grid = (triton.cdiv(N * H * W, block_m), triton.cdiv(F, block_n))
    conv_tiles[grid](*(x, filters, y, N, H, W, C, F), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=32)
