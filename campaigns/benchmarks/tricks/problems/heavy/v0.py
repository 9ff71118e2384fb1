import triton
import triton.language as tl


@triton.jit
def recur(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    value = x
    for _ in range(40):
        value = 0.75 * value + 0.25 * x / (1 + value * value)
    tl.store(y_ptr + at, value, mask=at < N)


def run_kernel(x, y, N):
    recur[(triton.cdiv(N, 256),)](x, y, N, BLOCK=256)
