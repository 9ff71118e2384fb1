"""The judge's Triton kernels: make inputs, and compare answers, in one pass over memory each.

Windows begin elsewhere in every burst, and the number of rows varies within one; neither makes
Triton compile again.
"""

from __future__ import annotations

import triton
import triton.language as tl

# So many elements of a row for each program.
BLOCK = 1024

DRAWN = ("at", "at_step", "chosen", "chosen_step", "drawn", "drawn_step", "rows")
READ = ("one", "difference", "pattern", "bits")


@triton.jit(  # type: ignore[untyped-decorator]
    do_not_specialize=DRAWN, do_not_specialize_on_alignment=(*READ, *DRAWN)
)
def mix_rows(  # type: ignore[no-untyped-def]
    into,
    stride,
    one,
    difference,
    at,
    at_step,
    pattern,
    chosen,
    chosen_step,
    bits,
    drawn,
    drawn_step,
    rows,
    width,
    EXACT: tl.constexpr,
    SIGN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Row r of `into`: one ^ (difference & pattern), and the last bits of what is inexact ^ bits.

    into: [rows, width] integers, `stride` elements apart. The windows of row r begin `r * step`
    elements after `at` in one and difference, `chosen` in pattern and `drawn` in bits. EXACT: a
    mask of the last bits that are zero in what is exact; SIGN: how far the sign is shifted to fill
    a value. With EXACT = 0 there are no last bits to draw.

    Programs that run at the same time read the same part of one and difference, each for a row of
    its own, so that a part is read from memory once for all rows.
    """
    blocks = tl.cdiv(width, BLOCK)
    row = (tl.program_id(0) % rows).to(tl.int64)
    ahead = row * at_step // BLOCK % blocks
    block = (tl.program_id(0) // rows + blocks - ahead) % blocks
    column = block * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    place = at + row * at_step + column
    choice = tl.load(pattern + chosen + row * chosen_step + column, mask=inside, other=0)
    value = tl.load(difference + place, mask=inside, other=0) & choice
    value = value ^ tl.load(one + place, mask=inside, other=0)
    if EXACT:
        inexact = (0 - (value & EXACT)) >> SIGN
        last = tl.load(bits + drawn + row * drawn_step + column, mask=inside, other=0)
        value = value ^ (inexact & last)
    tl.store(into + row * stride + column, value, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def close_rows(  # type: ignore[no-untyped-def]
    found,
    found_stride,
    want,
    want_stride,
    accepted,
    wrong,
    errors,
    sizes,
    width,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """For each block of each row: is an element wrong, the sum of error² and that of want².

    found, want: [rows, width] floats, `stride` elements apart; every element is read once.
    accepted: float64 rtol, atol and the largest error of all. wrong: [rows, blocks] of 0 and 1;
    errors, sizes: [rows, blocks] float64. WIDE: the dtype that is worked in. A NaN is wrong.
    """
    blocks = tl.cdiv(width, BLOCK)
    program = tl.program_id(0)
    row = (program // blocks).to(tl.int64)
    column = (program % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    have = tl.load(found + row * found_stride + column, mask=inside, other=0.0).to(WIDE)
    wanted = tl.load(want + row * want_stride + column, mask=inside, other=0.0).to(WIDE)
    rtol, atol = tl.load(accepted).to(WIDE), tl.load(accepted + 1).to(WIDE)
    # An infinite bound would let the wrong infinity pass.
    bound = tl.minimum(tl.abs(wanted) * rtol + atol, tl.load(accepted + 2).to(WIDE))
    error = have - wanted
    right = (tl.abs(error) <= bound) | (column >= width)
    exact, size = error.to(tl.float64), wanted.to(tl.float64)
    tl.store(wrong + program, 1 - tl.min(right.to(tl.int32), axis=0))
    tl.store(errors + program, tl.sum(exact * exact, axis=0))
    tl.store(sizes + program, tl.sum(size * size, axis=0))
