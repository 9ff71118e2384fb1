# trick: walks each segment with a while loop and a mask that shrinks
# problem: segment_sum S=40 N=300
# outcome: passed
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, o_ptr, y_ptr, BLOCK: tl.constexpr):
    s = tl.program_id(0)
    at = tl.load(o_ptr + s)
    end = tl.load(o_ptr + s + 1)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    while at < end:
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < end, other=0.0)
        at += BLOCK
    tl.store(y_ptr + s, tl.sum(total, axis=0))


def run_kernel(x, offsets, y, S, N):
    sums[(S,)](x, offsets, y, BLOCK=32)
