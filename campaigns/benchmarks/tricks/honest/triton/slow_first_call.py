# trick: builds a table for a long time in its first call
# problem: scale N=200
# outcome: passed
import time

import triton
import triton.language as tl

built = []


@triton.jit
def scale(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    tl.store(y_ptr + at, 2 * x, mask=at < N)


def run_kernel(x, y, N):
    if not built:
        time.sleep(0.5)
        built.append(64)
    scale[(triton.cdiv(N, 64),)](x, y, N, BLOCK=built[0])
