"""Matrix product with a weight of 4 bits, the plain way: one program per tile of C.

Even columns of A meet the low halves of the bytes, odd columns the high ones.
"""

import triton
import triton.language as tl


@triton.jit
def matmul_tiles(
    a_ptr,
    packed_ptr,
    scales_ptr,
    c_ptr,
    M,
    K,
    N,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    # A scale has 128 values, two in a byte.
    pairs = tl.arange(0, 64)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for group in range(K // 128):
        pair = group * 64 + pairs
        a_at = a_ptr + rows[:, None] * K + 2 * pair[None, :]
        even = tl.load(a_at, mask=rows[:, None] < M, other=0.0)
        odd = tl.load(a_at + 1, mask=rows[:, None] < M, other=0.0)
        packed_at = packed_ptr + pair[:, None] * N + columns[None, :]
        both = tl.load(packed_at, mask=columns[None, :] < N, other=0)
        low = ((both & 15).to(tl.float32) - 8.0).to(tl.bfloat16)
        high = ((both >> 4).to(tl.float32) - 8.0).to(tl.bfloat16)
        part = tl.dot(odd, high, tl.dot(even, low))
        scale = tl.load(scales_ptr + group * N + columns, mask=columns < N, other=0.0)
        total += part * scale.to(tl.float32)[None, :]
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=c_mask)


def run_kernel(A, packed, scales, C, M, K, N):
    block_m, block_n = 16, 64
    grid = (triton.cdiv(M, block_m), triton.cdiv(N, block_n))
    matmul_tiles[grid](*(A, packed, scales, C, M, K, N), BLOCK_M=block_m, BLOCK_N=block_n)
