# trick: softmax, one row per program
# problem: softmax N=8 D=33
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * D + at, e / tl.sum(e, axis=0), mask=at < D)


def run_kernel(input, output, N, D):
    softmax[(N,)](input, output, D, BLOCK=triton.next_power_of_2(D))
