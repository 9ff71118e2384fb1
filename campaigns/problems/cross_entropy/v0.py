"""Cross entropy, the plain way: one program per row, two walks over it in short blocks."""

import triton
import triton.language as tl


@triton.jit
def losses_of_rows(logits_ptr, targets_ptr, losses_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = logits_ptr + row.to(tl.int64) * V
    peak = -float("inf")
    for start in range(0, V, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(first + columns, mask=columns < V, other=-float("inf")).to(tl.float32)
        peak = tl.maximum(peak, tl.max(x, axis=0))
    total = 0.0
    for start in range(0, V, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(first + columns, mask=columns < V, other=-float("inf")).to(tl.float32)
        total += tl.sum(tl.exp(x - peak), axis=0)
    target = tl.load(targets_ptr + row)
    wanted = tl.load(first + target).to(tl.float32)
    tl.store(losses_ptr + row, peak + tl.log(total) - wanted)


def run_kernel(logits, targets, losses, N, V):
    losses_of_rows[(N,)](logits, targets, losses, V, BLOCK=512)
