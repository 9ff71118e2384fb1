# Dispatch split: D ≥ 32768 runs the kernel of round 2, all else that of round 1.

"""Softmax with one program per row and powers of two, which the hardware has an instruction for."""

import triton
import triton.language as tl

round_1_LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def round_1_row_softmax(scores, shares, D, WIDTH: tl.constexpr):
    places = tl.program_id(0) * D + tl.arange(0, WIDTH)
    inside = tl.arange(0, WIDTH) < D
    row = tl.load(scores + places, mask=inside, other=-float("inf"))
    powers = tl.exp2((row - tl.max(row, axis=0)) * round_1_LOG2_E)
    tl.store(shares + places, powers / tl.sum(powers, axis=0), mask=inside)


def round_1_run_kernel(scores, shares, N, D):
    round_1_row_softmax[(N,)](scores, shares, D, WIDTH=triton.next_power_of_2(D))


"""Softmax with one program per row and powers of two, which the hardware has an instruction for."""

import triton
import triton.language as tl

round_2_LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def round_2_row_softmax(scores, shares, D, WIDTH: tl.constexpr):
    places = tl.program_id(0) * D + tl.arange(0, WIDTH)
    inside = tl.arange(0, WIDTH) < D
    row = tl.load(scores + places, mask=inside, other=-float("inf"))
    powers = tl.exp2((row - tl.max(row, axis=0)) * round_2_LOG2_E)
    tl.store(shares + places, powers / tl.sum(powers, axis=0), mask=inside)


def round_2_run_kernel(scores, shares, N, D):
    round_2_row_softmax[(N,)](scores, shares, D, WIDTH=triton.next_power_of_2(D), num_warps=8)


def run_kernel(scores, shares, N, D):
    if D >= 32768:
        round_2_run_kernel(scores=scores, shares=shares, N=N, D=D)
    else:
        round_1_run_kernel(scores=scores, shares=shares, N=N, D=D)
