# trick: a boolean output
# problem: positive N=200
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def positive(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    tl.store(y_ptr + at, x > 0, mask=at < N)


def run_kernel(x, y, N):
    positive[(triton.cdiv(N, 64),)](x, y, N, BLOCK=64)
