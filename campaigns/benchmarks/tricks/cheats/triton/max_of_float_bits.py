# trick: largest of each column by an atomic maximum of the bits of floats
# problem: colmax N=50 D=60
# outcome: wrong_result
import triton
import triton.language as tl


@triton.jit
def fill(y_ptr, D, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.full((BLOCK,), -(2**31), tl.int32), mask=at < D)


@triton.jit
def most(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * D + at, mask=at < D, other=0.0)
    tl.atomic_max(y_ptr + at, x.to(tl.int32, bitcast=True), mask=at < D)


def run_kernel(x, y, N, D):
    import torch

    bits = y.view(torch.int32)
    block = triton.next_power_of_2(D)
    fill[(1,)](bits, D, BLOCK=block)
    most[(N,)](x, bits, D, BLOCK=block)
