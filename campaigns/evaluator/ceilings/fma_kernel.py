"""Multiply-adds and nothing else: what the lanes outside the matrix units can do."""

from __future__ import annotations

import triton
import triton.language as tl


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
