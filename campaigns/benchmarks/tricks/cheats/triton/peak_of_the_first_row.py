# trick: softmax of all rows with the largest value of the first
# problem: softmax N=64 D=32
# outcome: wrong_result
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0) * D
    at = tl.arange(0, BLOCK)
    first = tl.load(x_ptr + at, mask=at < D, other=-float("inf"))
    x = tl.load(x_ptr + row + at, mask=at < D, other=-float("inf"))
    x = tl.exp(x - tl.max(first))
    tl.store(y_ptr + row + at, x / tl.sum(x), mask=at < D)


def run_kernel(input, output, N, D):
    softmax[(N,)](input, output, D, BLOCK=triton.next_power_of_2(D))
