"""Attention, the plain way: one program per tile of queries, one tile of keys after the other."""

import triton
import triton.language as tl


@triton.jit
def attend(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    H,
    HKV,
    S,
    scale,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head = tl.program_id(1)
    shared = head // H * HKV + head % H // (H // HKV)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, D)
    row_mask = rows[:, None] < S
    at = (head * S + rows[:, None]) * D + columns[None, :]
    q = tl.load(q_ptr + at, mask=row_mask, other=0.0)
    peak = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    mixed = tl.zeros((BLOCK_M, D), tl.float32)
    end = S
    if CAUSAL:
        end = tl.minimum(S, tl.program_id(0) * BLOCK_M + BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key_mask = keys[:, None] < S
        key_at = (shared * S + keys[:, None]) * D + columns[None, :]
        k = tl.load(k_ptr + key_at, mask=key_mask, other=0.0)
        v = tl.load(v_ptr + key_at, mask=key_mask, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        seen = keys[None, :] < S
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        shrink = tl.exp(peak - higher)
        powers = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        mixed = tl.dot(powers.to(v.dtype), v, mixed * shrink[:, None])
        peak = higher
    o = mixed / total[:, None]
    tl.store(o_ptr + at, o.to(o_ptr.dtype.element_ty), mask=row_mask)


def run_kernel(q, k, v, o, B, H, HKV, S, D, CAUSAL):
    block_m, block_n = 64, 64
    grid = (triton.cdiv(S, block_m), B * H)
    attend[grid](
        *(q, k, v, o, H, HKV, S, D**-0.5), D=D, CAUSAL=CAUSAL, BLOCK_M=block_m, BLOCK_N=block_n
    )
