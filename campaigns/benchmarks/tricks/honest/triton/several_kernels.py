# trick: three kernels in a call with device helpers and a workspace of torch.empty
# problem: softmax N=8 D=33
# outcome: passed
import torch
import triton
import triton.language as tl

BLOCK_SIZE: tl.constexpr = 16
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def exp(x):
    return tl.exp2(x * LOG2E)


@triton.jit
def peaks(x_ptr, p_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, D, BLOCK):
        at = start + tl.arange(0, BLOCK)
        best = tl.maximum(best, tl.load(x_ptr + row * D + at, mask=at < D, other=-float("inf")))
    tl.store(p_ptr + row, tl.max(best, axis=0))


@triton.jit
def sums(x_ptr, p_ptr, s_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    peak = tl.load(p_ptr + row)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, D, BLOCK, num_stages=2):
        at = start + tl.arange(0, BLOCK)
        total += exp(tl.load(x_ptr + row * D + at, mask=at < D, other=-float("inf")) - peak)
    tl.store(s_ptr + row, tl.sum(total, axis=0))


@triton.jit
def divide(x_ptr, p_ptr, s_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.store(
        y_ptr + row * D + at, exp(x - tl.load(p_ptr + row)) / tl.load(s_ptr + row), mask=at < D
    )


def run_kernel(input, output, N, D):
    peak, total = torch.empty(N, device=input.device), torch.empty(N, device=input.device)
    peaks[(N,)](input, peak, D, BLOCK=16)
    sums[(N,)](input, peak, total, D, BLOCK=16)
    divide[(N, triton.cdiv(D, 16))](input, peak, total, output, D, BLOCK=16)
