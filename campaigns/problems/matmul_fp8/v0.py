"""Matrix product in float8, the plain way: one program per tile of C, scaled at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_tiles(
    a_ptr,
    b_ptr,
    a_scale_ptr,
    b_scale_ptr,
    c_ptr,
    M,
    K,
    N,
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
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + columns[None, :] * K + k[:, None], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    a_scale = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    c = total * a_scale[:, None] * b_scale[None, :]
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c.to(tl.bfloat16), mask=c_mask)


def run_kernel(A, B, a_scale, b_scale, C, M, K, N):
    block_m, block_n = 64, 64
    grid = (triton.cdiv(M, block_m), triton.cdiv(N, block_n))
    a, b = A.view(torch.float8_e4m3fn), B.view(torch.float8_e4m3fn)
    matmul_tiles[grid](
        *(a, b, a_scale, b_scale, C, M, K, N), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=64
    )
