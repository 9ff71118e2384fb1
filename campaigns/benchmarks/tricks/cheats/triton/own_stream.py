# trick: works on a stream of its own and returns without waiting, also when nothing is captured
# problem: softmax N=1024 D=1024
# on: gpu
# outcome: wrong_result
# says: outside of the order of the stream
# timed: no
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


own = None


def run_kernel(input, output, N, D):
    global own
    own = own or torch.cuda.Stream()
    with torch.cuda.stream(own):
        plain(input, output, N, D)
