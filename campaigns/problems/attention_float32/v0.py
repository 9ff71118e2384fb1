"""Multi-head attention, the plain way: one program per tile of queries, walking over the keys."""

import triton
import triton.language as tl


@triton.jit
def attend(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    S,
    scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, D)
    row_mask = rows[:, None] < S
    at = (head * S + rows[:, None]) * D + columns[None, :]
    q = tl.load(q_ptr + at, mask=row_mask, other=0.0)
    peak = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    mixed = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, S, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key_mask = keys[:, None] < S
        key_at = (head * S + keys[:, None]) * D + columns[None, :]
        k = tl.load(k_ptr + key_at, mask=key_mask, other=0.0)
        v = tl.load(v_ptr + key_at, mask=key_mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(keys[None, :] < S, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        shrink = tl.exp(peak - higher)
        powers = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        mixed = tl.dot(powers, v, mixed * shrink[:, None], input_precision="ieee")
        peak = higher
    tl.store(o_ptr + at, mixed / total[:, None], mask=row_mask)


def run_kernel(q, k, v, o, B, H, S, D):
    block_m, block_n = 64, 32
    grid = (triton.cdiv(S, block_m), B * H)
    attend[grid](q, k, v, o, S, D**-0.5, D=D, BLOCK_M=block_m, BLOCK_N=block_n)
