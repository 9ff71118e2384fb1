"""Gradients of causal attention, the plain way: one launch walks over keys, one over queries."""

import triton
import triton.language as tl


@triton.jit
def tile(x_ptr, head, rows, S, D: tl.constexpr):
    at = (head * S + rows[:, None]) * D + tl.arange(0, D)[None, :]
    return tl.load(x_ptr + at, mask=rows[:, None] < S, other=0.0)


@triton.jit
def put(x_ptr, head, rows, S, x, D: tl.constexpr):
    at = (head * S + rows[:, None]) * D + tl.arange(0, D)[None, :]
    tl.store(x_ptr + at, x.to(x_ptr.dtype.element_ty), mask=rows[:, None] < S)


@triton.jit
def shares_and_changes(q, k, v, o, dout, lse, rows, keys, S, scale):
    """What the softmax gave each key, and by how much each score should change."""
    seen = (keys[None, :] <= rows[:, None]) & (rows[:, None] < S)
    scores = tl.dot(q, tl.trans(k)) * scale
    shares = tl.where(seen, tl.exp(scores - lse[:, None]), 0.0)
    delta = tl.sum(dout.to(tl.float32) * o.to(tl.float32), axis=1)
    changes = shares * (tl.dot(dout, tl.trans(v)) - delta[:, None]) * scale
    return shares.to(q.dtype), changes.to(q.dtype)


@triton.jit
def gradient_of_queries(
    dout_ptr,
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    dq_ptr,
    S,
    scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head = tl.program_id(1)
    first = tl.program_id(0) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    q = tile(q_ptr, head, rows, S, D)
    o = tile(o_ptr, head, rows, S, D)
    dout = tile(dout_ptr, head, rows, S, D)
    lse = tl.load(lse_ptr + head * S + rows, mask=rows < S, other=0.0)
    dq = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, tl.minimum(S, first + BLOCK_M), BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tile(k_ptr, head, keys, S, D)
        v = tile(v_ptr, head, keys, S, D)
        _, changes = shares_and_changes(q, k, v, o, dout, lse, rows, keys, S, scale)
        dq = tl.dot(changes, k, dq)
    put(dq_ptr, head, rows, S, dq, D)


@triton.jit
def gradients_of_keys(
    dout_ptr,
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    dk_ptr,
    dv_ptr,
    S,
    scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head = tl.program_id(1)
    first = tl.program_id(0) * BLOCK_N
    keys = first + tl.arange(0, BLOCK_N)
    k = tile(k_ptr, head, keys, S, D)
    v = tile(v_ptr, head, keys, S, D)
    dk = tl.zeros((BLOCK_N, D), tl.float32)
    dv = tl.zeros((BLOCK_N, D), tl.float32)
    for start in range(first // BLOCK_M * BLOCK_M, S, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        q = tile(q_ptr, head, rows, S, D)
        o = tile(o_ptr, head, rows, S, D)
        dout = tile(dout_ptr, head, rows, S, D)
        lse = tl.load(lse_ptr + head * S + rows, mask=rows < S, other=0.0)
        shares, changes = shares_and_changes(q, k, v, o, dout, lse, rows, keys, S, scale)
        dv = tl.dot(tl.trans(shares), dout, dv)
        dk = tl.dot(tl.trans(changes), q, dk)
    put(dk_ptr, head, keys, S, dk, D)
    put(dv_ptr, head, keys, S, dv, D)


def run_kernel(dout, q, k, v, o, lse, dq, dk, dv, B, H, S, D):
    block_m, block_n = 64, 64
    given = (dout, q, k, v, o, lse)
    gradient_of_queries[(triton.cdiv(S, block_m), B * H)](
        *(*given, dq, S, D**-0.5), D=D, BLOCK_M=block_m, BLOCK_N=block_n, num_stages=1
    )
    gradients_of_keys[(triton.cdiv(S, block_n), B * H)](
        *(*given, dk, dv, S, D**-0.5), D=D, BLOCK_M=block_m, BLOCK_N=block_n, num_stages=1
    )
