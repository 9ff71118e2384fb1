"""Rotary position embedding, the plain way: one program per token, q and k one by one."""

import triton
import triton.language as tl


@triton.jit
def turn(x_ptr, cos_ptr, sin_ptr, y_ptr, S, HEADS, D: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    pairs = tl.arange(0, D // 2)
    heads = tl.arange(0, BLOCK)
    inside = heads[:, None] < HEADS
    table = token % S * (D // 2) + pairs
    cos = tl.load(cos_ptr + table)[None, :]
    sin = tl.load(sin_ptr + table)[None, :]
    at = (token * HEADS + heads[:, None]) * D + pairs[None, :]
    a = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + at + D // 2, mask=inside, other=0.0).to(tl.float32)
    kind = y_ptr.dtype.element_ty
    tl.store(y_ptr + at, (a * cos - b * sin).to(kind), mask=inside)
    tl.store(y_ptr + at + D // 2, (b * cos + a * sin).to(kind), mask=inside)


def run_kernel(q, k, cos, sin, q_out, k_out, B, S, H, HKV, D):
    turn[(B * S,)](q, cos, sin, q_out, S, H, D=D, BLOCK=triton.next_power_of_2(H))
    turn[(B * S,)](k, cos, sin, k_out, S, HKV, D=D, BLOCK=triton.next_power_of_2(HKV))
