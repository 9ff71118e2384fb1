# trick: fills what lies behind a row with zeros before it looks for the largest value
# problem: row_softmax N=32 D=100
# outcome: wrong_result
# says: inputs lowered
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    at = tl.program_id(0) * D + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < D
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    powers = tl.where(inside, tl.exp(x - tl.max(x, axis=0)), 0.0)
    tl.store(y_ptr + at, powers / tl.sum(powers, axis=0), mask=inside)


def run_kernel(x, y, N, D):
    rows[(N,)](x, y, D, BLOCK=triton.next_power_of_2(D))
