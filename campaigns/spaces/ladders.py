"""Which values a number may take: powers of two around the present one, which is always among them.

A ladder is as wide as kernels of that kind have been seen to want. What a device cannot do is left
to constraints.
"""

from __future__ import annotations

WARPS = (1, 2, 4, 8, 16, 32)
STAGES = (1, 2, 3, 4, 5, 6)
# 0 leaves it to the compiler.
REGISTERS = (0, 64, 96, 128, 168)
UNROLLS = (0, 1, 2, 4, 8, 16)
RESIDENT_BLOCKS = (0, 1, 2, 4, 8, 16)

TILES = (16, 256)
COUNTS = (1, 16)
# A row or a vector that one program walks along: several values for each of its threads.
STRIPES = (32, 8192)
THREADS = (32, 1024)
# The side of a square thread block: up to 1024 threads.
SIDES = (4, 32)
# Numbers this large are sizes of the problem.
MOST = 1 << 20


def ladder(present: int, usual: tuple[int, int], *, reach: int = 4) -> tuple[int, ...]:
    """Powers of two in the usual range and within a factor of `reach` of the present number."""
    low = max(1, min(usual[0], present // reach))
    high = min(MOST, max(usual[1], present * reach))
    powers = {1 << power for power in range(high.bit_length()) if low <= 1 << power <= high}
    return tuple(sorted(powers | {present}))


def strict_ladder(present: int, usual: tuple[int, int]) -> tuple[int, ...]:
    """Powers of two in the usual range alone: there is a limit that no device is above."""
    powers = {1 << p for p in range(usual[1].bit_length()) if usual[0] <= 1 << p <= usual[1]}
    return tuple(sorted(powers | {present}))


def with_present(values: tuple[int, ...], present: int) -> tuple[int, ...]:
    """The values with the present one among them, in order."""
    return tuple(sorted({*values, present}))
