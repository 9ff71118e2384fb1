# trick: tl.associative_scan with a carry over blocks
# problem: cumsum N=4 D=300
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def prefix(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, D, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
        y = tl.associative_scan(x, 0, plus) + carry
        tl.store(y_ptr + row * D + at, y, mask=at < D)
        carry += tl.sum(x, axis=0)


def run_kernel(x, y, N, D):
    prefix[(N,)](x, y, D, BLOCK=64)
