# trick: a reduction with a combine function of its own (Welford)
# problem: moments N=8 D=33
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def combine(n1, m1, s1, n2, m2, s2):
    n = n1 + n2
    share = tl.where(n > 0, n2 / tl.where(n > 0, n, 1.0), 0.0)
    delta = m2 - m1
    return n, m1 + delta * share, s1 + s2 + delta * delta * n1 * share


@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + at, mask=at < D, other=0.0)
    count = tl.where(at < D, 1.0, 0.0)
    n, mean, square = tl.reduce((count, x, tl.zeros_like(x)), 0, combine)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, square / n)


def run_kernel(x, mean, variance, N, D):
    moments[(N,)](x, mean, variance, D, BLOCK=triton.next_power_of_2(D))
