"""How many representable values lie between two answers of 8 bits."""

from __future__ import annotations

import torch

# A right quantiser differs where a value is a tie, or by its last bit almost one: of few elements.
# One that truncates is off in about half of them, a shifted one in all.
SHARE = 0.01
# Of small outputs that share is nothing, so that many may be off, but never more than an eighth.
FEW, LEAST_PART = 4, 8
# Beyond every finite value, and farther from each other than any tolerance.
INFINITE, NO_NUMBER = 1_000, 10_000
# By float8: the magnitude bits of infinity (of none: past all) and those from which on it is NaN.
SPECIAL = {"float8_e4m3fn": (0x80, 0x7F), "float8_e5m2": (0x7C, 0x7D)}


def distance(found: torch.Tensor, wanted: torch.Tensor, bits: str) -> torch.Tensor:
    """Steps between elements of int8 or uint8. bits: the float8 that they hold, "" for integers.

    Both zeros of a float8 are equal, and so are its NaNs. An infinity is no step from the largest
    number: whether a kernel saturates is no question of rounding.
    """
    return (_rank(found, bits) - _rank(wanted, bits)).abs()


def most_off(count: int) -> int:
    """How many of `count` elements may be off by a step or more."""
    return max(int(SHARE * count), min(FEW, count // LEAST_PART))


def would_pass(found: torch.Tensor, wanted: torch.Tensor) -> str:
    """What to write for bytes that are off by one value in few elements; "" for all others."""
    if found.dtype not in (torch.int8, torch.uint8) or found.dtype != wanted.dtype:
        return ""
    for bits in ("", *SPECIAL):
        off = distance(found, wanted, bits)
        if int(off.max()) == 1 and int(off.sum()) <= most_off(off.numel()):
            held = f' with `bits = "{bits}"`' if bits else ""
            return f"; rounded otherwise? `steps = 1`{held} accepts it"
    return ""


def _rank(tensor: torch.Tensor, bits: str) -> torch.Tensor:
    """The place of each element in the order of all values, in int16."""
    if not bits:
        return tensor.to(torch.int16)
    infinity, no_number = SPECIAL[bits]
    byte = tensor.view(torch.uint8).to(torch.int16)
    size = byte & 0x7F
    rank = torch.where(size == infinity, INFINITE, size)
    rank = torch.where(byte >= 0x80, -rank, rank)
    return torch.where(size >= no_number, NO_NUMBER, rank).to(torch.int16)
