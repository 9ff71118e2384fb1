"""Histogram, the plain way: every value raises its count in global memory by an atomic addition."""

import triton
import triton.language as tl


@triton.jit
def count_values(values_ptr, counts_ptr, N, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < N
    values = tl.load(values_ptr + places, mask=inside, other=0).to(tl.int32)
    tl.atomic_add(counts_ptr + values, 1, mask=inside)


def run_kernel(values, counts, N):
    block = 1024
    counts.zero_()
    count_values[(triton.cdiv(N, block),)](values, counts, N, BLOCK=block)
