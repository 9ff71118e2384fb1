# trick: parts of a row added up with atomics
# problem: row_sum N=4 D=200
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    at = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(x, axis=0))


def run_kernel(x, y, N, D):
    y.zero_()
    sums[(N, triton.cdiv(D, 64))](x, y, D, BLOCK=64)
