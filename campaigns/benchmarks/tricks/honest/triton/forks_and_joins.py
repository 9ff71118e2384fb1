# trick: each half of the rows on a stream of its own, which wait for the caller's and it for them
# problem: softmax N=1024 D=1024
# on: gpu
# outcome: passed
# calls: 64
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * D + at, mask=at < D, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + tl.program_id(0) * D + at, powers / tl.sum(powers, 0), mask=at < D)


def plain(x, y, N, D):
    rows[(N,)](x, y, D, BLOCK=triton.next_power_of_2(D))


sides = []


def run_kernel(input, output, N, D):
    now = torch.cuda.current_stream()
    if not sides:
        sides.extend(torch.cuda.Stream() for _ in range(2))
    half = N // 2
    for side, part in zip(sides, (slice(0, half), slice(half, N)), strict=True):
        if part.start == part.stop:
            continue
        side.wait_stream(now)
        with torch.cuda.stream(side):
            plain(input[part], output[part], part.stop - part.start, D)
        now.wait_stream(side)
