# trick: reads over the end of the last row and sums it up
# problem: row_sum N=16 D=24
# outcome: wrong_result
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * D + tl.arange(0, BLOCK))
    tl.store(y_ptr + row, tl.sum(x, axis=0))


def run_kernel(x, y, N, D):
    sums[(N,)](x, y, D, BLOCK=triton.next_power_of_2(D))
