# trick: adds up in memory that it never set to zero
# problem: row_sum N=4 D=256
# outcome: wrong_result
import torch
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, sum_ptr, D, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    at = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.atomic_add(sum_ptr + row, tl.sum(x, axis=0))


@triton.jit
def copied(sum_ptr, y_ptr):
    row = tl.program_id(0)
    tl.store(y_ptr + row, tl.load(sum_ptr + row))


def run_kernel(x, y, N, D):
    # As much as comes from the system afresh, which is zero.
    workspace = torch.empty(1 << 24, dtype=torch.float32, device=x.device)
    sums[(N, triton.cdiv(D, 64))](x, workspace, D, BLOCK=64)
    copied[(N,)](workspace, y)
