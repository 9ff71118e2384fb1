# trick: an autotuned kernel, which runs several times in its first call
# problem: scale N=200
# outcome: passed
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["N"]
)
@triton.jit
def scale(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    tl.store(y_ptr + at, 2 * x, mask=at < N)


def run_kernel(x, y, N):
    scale[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](x, y, N)
