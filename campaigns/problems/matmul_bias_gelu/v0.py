"""Matrix product with bias and GELU, the plain way: one program per tile of C."""

import triton
import triton.language as tl


@triton.jit
def matmul_gelu_tiles(
    a_ptr,
    b_ptr,
    bias_ptr,
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
        b = tl.load(b_ptr + k[:, None] * N + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
    x = total + bias.to(tl.float32)[None, :]
    # 0.5 (1 + tanh(u)) is sigmoid(2 u).
    y = x * tl.sigmoid(1.5957691216 * (x + 0.044715 * x * x * x))
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], y.to(tl.bfloat16), mask=c_mask)


def run_kernel(A, B, bias, C, M, K, N):
    block_m, block_n = 64, 64
    grid = (triton.cdiv(M, block_m), triton.cdiv(N, block_n))
    matmul_gelu_tiles[grid](*(A, B, bias, C, M, K, N), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=32)
