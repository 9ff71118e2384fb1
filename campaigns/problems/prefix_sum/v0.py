"""Running sums, the plain way: within blocks, then of the blocks' sums, then both together.

The sum of a block is its last running sum, so no memory beside the output is needed.
"""

import triton
import triton.language as tl


@triton.jit
def sums_in_blocks(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < N, other=0.0)
    tl.store(y_ptr + places, tl.cumsum(x, axis=0), mask=places < N)


@triton.jit
def sums_of_blocks(y_ptr, full, BLOCK: tl.constexpr, MANY: tl.constexpr):
    before = 0.0
    for start in range(0, full, MANY):
        blocks = start + tl.arange(0, MANY)
        ends = y_ptr + blocks * BLOCK + BLOCK - 1
        sums = tl.load(ends, mask=blocks < full, other=0.0)
        tl.store(ends, before + tl.cumsum(sums, axis=0), mask=blocks < full)
        before += tl.sum(sums, axis=0)


@triton.jit
def add_sums_before(y_ptr, N, full, BLOCK: tl.constexpr):
    block = tl.program_id(0) + 1
    places = block * BLOCK + tl.arange(0, BLOCK)
    # The last sum of a block that another one follows is whole already.
    inside = (places < N) & ((places < block * BLOCK + BLOCK - 1) | (block == full))
    before = tl.load(y_ptr + block * BLOCK - 1)
    y = tl.load(y_ptr + places, mask=inside, other=0.0)
    tl.store(y_ptr + places, before + y, mask=inside)


def run_kernel(input, output, N):
    block = 1024
    blocks = triton.cdiv(N, block)
    sums_in_blocks[(blocks,)](input, output, N, BLOCK=block)
    if blocks > 1:
        # All but the last, which may not be full.
        sums_of_blocks[(1,)](output, blocks - 1, BLOCK=block, MANY=256)
        add_sums_before[(blocks - 1,)](output, N, blocks - 1, BLOCK=block)
