# trick: softmax that does not subtract the largest value
# problem: softmax N=8 D=32
# outcome: wrong_result
# says: larger
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=-1e30)
    e = tl.exp(x)
    tl.store(y_ptr + row * D + at, e / tl.sum(e, axis=0), mask=at < D)


def run_kernel(input, output, N, D):
    softmax[(N,)](input, output, D, BLOCK=triton.next_power_of_2(D))
