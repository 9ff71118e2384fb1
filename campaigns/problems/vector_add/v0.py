"""Vector addition, the plain way: one value per thread of a program's four warps."""

import triton
import triton.language as tl


@triton.jit
def add_blocks(a_ptr, b_ptr, c_ptr, N, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    places = block * BLOCK + tl.arange(0, BLOCK)
    inside = places < N
    a = tl.load(a_ptr + places, mask=inside)
    b = tl.load(b_ptr + places, mask=inside)
    tl.store(c_ptr + places, a + b, mask=inside)


def run_kernel(a, b, c, N):
    block = 128
    add_blocks[(triton.cdiv(N, block),)](a, b, c, N, BLOCK=block)
