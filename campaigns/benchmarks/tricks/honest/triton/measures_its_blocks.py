# trick: measures block sizes with do_bench, and asks the driver how large the card is
# problem: scale N=200
# outcome: passed
import functools

import triton
import triton.language as tl
from triton.testing import do_bench


@triton.jit
def double(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    first, step = tl.program_id(0) * BLOCK, tl.num_programs(0) * BLOCK
    for start in range(first, N, step):
        at = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < N), mask=at < N)


@functools.cache
def processors():
    utils = triton.runtime.driver.active.utils
    device = triton.runtime.driver.active.get_current_device()
    return utils.get_device_properties(device)["multiprocessor_count"]


best = {}


def launch(x, y, N, block):
    programs = min(processors(), triton.cdiv(N, block))
    double[(programs,)](x, y, N, BLOCK=block)


def run_kernel(x, y, N):
    if N not in best:
        times = {b: do_bench(lambda b=b: launch(x, y, N, b), warmup=1, rep=1) for b in (32, 64)}
        best[N] = min(times, key=times.get)
    launch(x, y, N, best[N])
