"""Row softmax, the plain way: one program per row, the whole row at once."""

import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, y_ptr, N, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < D
    x = tl.load(x_ptr + row * D + columns, mask=inside, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    y = powers / tl.sum(powers, axis=0)
    tl.store(y_ptr + row * D + columns, y, mask=inside)


def run_kernel(input, output, N, D):
    softmax_rows[(N,)](input, output, N, D, BLOCK=triton.next_power_of_2(D))
