"""Sum and RMS normalisation, the plain way: one program per row, two walks in short blocks."""

import triton
import triton.language as tl


@triton.jit
def add_and_normalise_rows(
    x_ptr, residual_ptr, weight_ptr, total_ptr, y_ptr, D, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    squares = 0.0
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < D
        x = tl.load(x_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        residual = tl.load(residual_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        total = x + residual
        tl.store(total_ptr + row * D + columns, total.to(tl.bfloat16), mask=inside)
        squares += tl.sum(total * total, axis=0)
    scale = tl.rsqrt(squares / D + 1e-5)
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < D
        x = tl.load(x_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        residual = tl.load(residual_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
        y = ((x + residual) * scale * weight).to(tl.bfloat16)
        tl.store(y_ptr + row * D + columns, y, mask=inside)


def run_kernel(x, residual, weight, total, y, N, D):
    add_and_normalise_rows[(N,)](x, residual, weight, total, y, D, BLOCK=128)
