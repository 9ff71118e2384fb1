"""Gradients of layer normalisation, the plain way: a program per row, then one per few columns."""

import triton
import triton.language as tl


@triton.jit
def gradient_of_rows(dy_ptr, x_ptr, mean_ptr, rstd_ptr, weight_ptr, dx_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    plain = 0.0
    parallel = 0.0
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < D
        x = tl.load(x_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
        plain += tl.sum(dy * weight, axis=0)
        parallel += tl.sum(dy * weight * (x - mean) * rstd, axis=0)
    plain = plain / D
    parallel = parallel / D
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < D
        x = tl.load(x_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * D + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
        dx = (dy * weight - plain - (x - mean) * rstd * parallel) * rstd
        tl.store(dx_ptr + row * D + columns, dx.to(tl.bfloat16), mask=inside)


@triton.jit
def gradients_of_columns(
    dy_ptr,
    x_ptr,
    mean_ptr,
    rstd_ptr,
    dweight_ptr,
    dbias_ptr,
    N,
    D,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    columns = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    dweight = tl.zeros((BLOCK_D,), dtype=tl.float32)
    dbias = tl.zeros((BLOCK_D,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        rows = start + tl.arange(0, BLOCK_N)
        inside = (rows[:, None] < N) & (columns[None, :] < D)
        places = rows[:, None] * D + columns[None, :]
        x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + places, mask=inside, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + rows, mask=rows < N, other=0.0)
        rstd = tl.load(rstd_ptr + rows, mask=rows < N, other=0.0)
        dweight += tl.sum(dy * (x - mean[:, None]) * rstd[:, None], axis=0)
        dbias += tl.sum(dy, axis=0)
    tl.store(dweight_ptr + columns, dweight.to(tl.bfloat16), mask=columns < D)
    tl.store(dbias_ptr + columns, dbias.to(tl.bfloat16), mask=columns < D)


def run_kernel(dy, x, mean, rstd, weight, dx, dweight, dbias, N, D):
    gradient_of_rows[(N,)](dy, x, mean, rstd, weight, dx, D, BLOCK=128)
    columns = 32
    gradients_of_columns[(triton.cdiv(D, columns),)](
        dy, x, mean, rstd, dweight, dbias, N, D, BLOCK_N=32, BLOCK_D=columns
    )
