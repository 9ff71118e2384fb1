"""Softmax of wide rows, the plain way: one program per row, three walks over it in short blocks."""

import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    peak = -float("inf")
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + columns, mask=columns < D, other=-float("inf"))
        peak = tl.maximum(peak, tl.max(x.to(tl.float32), axis=0))
    total = 0.0
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + columns, mask=columns < D, other=-float("inf"))
        total += tl.sum(tl.exp(x.to(tl.float32) - peak), axis=0)
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < D
        x = tl.load(x_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        y = tl.exp(x - peak) / total
        tl.store(y_ptr + row * D + columns, y.to(tl.bfloat16), mask=inside)


def run_kernel(input, output, N, D):
    softmax_rows[(N,)](input, output, D, BLOCK=1024)
