# trick: a workspace that is allocated once per size and kept
# problem: row_sum N=4 D=200
# outcome: passed
import torch
import triton
import triton.language as tl

workspaces = {}


@triton.jit
def partial(x_ptr, w_ptr, D, PARTS, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    at = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.store(w_ptr + row * PARTS + part, tl.sum(x, axis=0))


@triton.jit
def finish(w_ptr, y_ptr, PARTS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * PARTS + at, mask=at < PARTS, other=0.0)
    tl.store(y_ptr + row, tl.sum(w, axis=0))


def run_kernel(x, y, N, D):
    parts = triton.cdiv(D, 64)
    work = workspaces.setdefault((N, parts), torch.empty(N * parts, device=x.device))
    partial[(N, parts)](x, work, D, parts, BLOCK=64)
    finish[(N,)](work, y, parts, BLOCK=triton.next_power_of_2(parts))
