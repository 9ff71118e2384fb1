# trick: functools.cache for what depends on sizes alone
# problem: row_sum N=16 D=40
# outcome: passed
import functools

import triton
import triton.language as tl


@functools.cache
def block_for(columns):
    return triton.next_power_of_2(columns)


@triton.jit
def sums(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


def run_kernel(x, y, N, D):
    sums[(N,)](x, y, D, BLOCK=block_for(D))
