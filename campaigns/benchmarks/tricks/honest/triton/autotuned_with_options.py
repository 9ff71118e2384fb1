# trick: autotuned, with a way to measure of its own
# problem: scale N=200
# outcome: passed
import triton
import triton.language as tl


def measured(call, quantiles):
    return triton.testing.do_bench(call, warmup=1, rep=1, quantiles=quantiles)


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}) for block in (32, 64)], key=["N"], do_bench=measured
)
@triton.jit
def double(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < N), mask=at < N)


def run_kernel(x, y, N):
    double[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](x, y, N)
