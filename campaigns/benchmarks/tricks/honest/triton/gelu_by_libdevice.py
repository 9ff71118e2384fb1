# trick: tanh and rounding from libdevice
# problem: gelu N=200
# outcome: passed
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    whole = libdevice.rint(x) - libdevice.rint(x)
    tl.store(y_ptr + at, 0.5 * x * (1 + libdevice.tanh(inner)) + whole, mask=at < N)


def run_kernel(x, y, N):
    gelu[(triton.cdiv(N, 64),)](x, y, N, BLOCK=64)
