# trick: reads down the columns of a row-major matrix
# problem: transpose N=24 D=40
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, y_ptr, N, D, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at * D + column, mask=at < N, other=0.0)
    tl.store(y_ptr + column * N + at, x, mask=at < N)


def run_kernel(x, y, N, D):
    transpose[(D,)](x, y, N, D, BLOCK=triton.next_power_of_2(N))
