# trick: doubles pairs of elements, and forgets the last one where their number is odd
# problem: scale N=200
# outcome: wrong_result
# says: hidden sizes
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, pairs, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for half in range(2):
        x = tl.load(x_ptr + 2 * at + half, mask=at < pairs, other=0.0)
        tl.store(y_ptr + 2 * at + half, 2 * x, mask=at < pairs)


def run_kernel(x, y, N):
    scale[(triton.cdiv(N // 2, 64),)](x, y, N // 2, BLOCK=64)
