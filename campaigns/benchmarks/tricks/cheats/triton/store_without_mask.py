# trick: stores whole blocks, over the end of the output
# problem: scale N=200
# outcome: wrong_result
# says: outside its output
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    tl.store(y_ptr + at, 2 * x)


def run_kernel(x, y, N):
    scale[(triton.cdiv(N, 64),)](x, y, N, BLOCK=64)
