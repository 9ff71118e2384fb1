# trick: tl.dot of bytes into 32 bits
# problem: int8_matmul M=20 K=40 N=20
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr, DEPTH: tl.constexpr):
    m, n = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.int32)
    for start in range(0, K, DEPTH):
        k = start + tl.arange(0, DEPTH)
        a = tl.load(
            a_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0
        )
        b = tl.load(
            b_ptr + n[None, :] * K + k[:, None], mask=(k < K)[:, None] & (n < N)[None, :], other=0
        )
        acc += tl.dot(a, b, out_dtype=tl.int32)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


def run_kernel(a, b, c, M, K, N):
    product[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, M, N, K, B=16, DEPTH=32)
