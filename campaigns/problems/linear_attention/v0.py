"""Causal linear attention, the plain way: one program per head goes through its chunks in order."""

import triton
import triton.language as tl


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, o_ptr, S, D, CHUNK: tl.constexpr, BLOCK_D: tl.constexpr):
    head = tl.program_id(0).to(tl.int64) * S * D
    places = tl.arange(0, CHUNK)
    columns = tl.arange(0, BLOCK_D)
    state = tl.zeros((BLOCK_D, BLOCK_D), dtype=tl.float32)
    for start in range(0, S, CHUNK):
        rows = start + places
        mask = (rows[:, None] < S) & (columns[None, :] < D)
        at = head + rows[:, None] * D + columns[None, :]
        q = tl.load(q_ptr + at, mask=mask, other=0.0)
        k = tl.load(k_ptr + at, mask=mask, other=0.0)
        v = tl.load(v_ptr + at, mask=mask, other=0.0)
        products = tl.dot(q, tl.trans(k))
        products = tl.where(places[:, None] >= places[None, :], products, 0.0)
        o = tl.dot(q, state.to(tl.bfloat16))
        o = tl.dot(products.to(tl.bfloat16), v, o)
        tl.store(o_ptr + at, o.to(tl.bfloat16), mask=mask)
        state = tl.dot(tl.trans(k), v, state)


def run_kernel(q, k, v, o, B, H, S, D):
    block_d = max(16, triton.next_power_of_2(D))
    attend[(B * H,)](q, k, v, o, S, D, CHUNK=64, BLOCK_D=block_d)
