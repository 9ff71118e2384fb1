"""Multiply-adds and nothing else: what the lanes outside the matrix units can do."""

from __future__ import annotations

import triton
import triton.language as tl

READ, WRITE, COPY = 1, 2, 3


@triton.jit  # type: ignore[untyped-decorator]
def multiply_add(out, steps, BLOCK: tl.constexpr, UNROLL: tl.constexpr):  # type: ignore[no-untyped-def]
    """`steps * UNROLL` dependent multiply-adds on each of BLOCK elements, stored to `out`.

    A thread holds several elements, which are its independent chains.
    """
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = at.to(out.dtype.element_ty)
    for _ in range(steps):
        for _ in tl.static_range(UNROLL):
            x = x * 0.999 + 0.001
    tl.store(out + at, x)


@triton.jit  # type: ignore[untyped-decorator]
def pass_over(x, y, passes, STRIDE: tl.constexpr, WAY: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Each program moves one block of BLOCK float32 a pass, another one each time.

    STRIDE blocks lie between one program's passes, so that its multiprocessor's own cache does not
    hold what it needs next; loads skip that cache as well. x, y: BLOCK values for each program;
    READ writes y once at the end, so that its loads are not left out.
    """
    within = tl.arange(0, BLOCK)
    program = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for number in range(passes):
        at = (program + number * STRIDE) % tl.num_programs(0) * BLOCK + within
        if WAY == 1:
            total += tl.load(x + at, cache_modifier=".cg")
        elif WAY == 2:
            tl.store(y + at, total + number)
        else:
            tl.store(y + at, tl.load(x + at, cache_modifier=".cg"))
    if WAY == 1:
        tl.store(y + program * BLOCK + within, total)
