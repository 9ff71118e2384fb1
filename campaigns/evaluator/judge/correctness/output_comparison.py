"""Compare an output with the expected one: every element, finite or not; never nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

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

# Other right answers of each output, stacked.
Others = Mapping[str, torch.Tensor]
NONE: Others = {}
# Between answers no farther apart than this any value is right: counts of values on an edge.
APART = 8


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """margin is the worst error as a share of what is accepted, by element or by norm.

    Errors are infinite where an element is finite on one side only. output: its argument's name.
    """

    ok: bool
    max_abs_error: float
    max_rel_error: float
    margin: float
    message: str = ""
    norm_error: float = 0.0
    output: str = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """By element: error at most atol + rtol * |expected|; by norm: at most norm * |expected|.

    Integers and booleans are compared bit by bit where `exact`, and the rest is ignored. usual: a
    lower bound of |expected| in the norm. steps: by how many representable values (of `bits`) an
    exact output of 8 bits may be off, in few of its elements where `few`.
    """

    atol: float
    rtol: float
    norm: float = math.inf
    exact: bool = False
    usual: float = 0.0
    steps: int | None = None
    bits: str = ""
    few: bool = True

    @property
    def by_element(self) -> Tolerance:
        """The tolerance for a sample of the elements, without what holds for all of them."""
        return replace(self, norm=math.inf, few=False)


def quick(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """[answers] True where every element is finite and within tolerance; False: compare closely.

    found, expected: [answers, elements]. A NaN makes its own comparison False, so it can only fail
    here.
    """
    if found.numel() == 0:
        return torch.zeros(len(found), dtype=torch.bool, device=found.device)
    if tolerance.steps is not None:
        off = distance(found, expected, tolerance.bits)
        most = most_off(off.shape[1]) if tolerance.few else off.shape[1]
        return (off <= tolerance.steps).all(1) & ((off > 0).sum(1) <= most)
    if not expected.is_floating_point():
        return (as_bytes(found) == as_bytes(expected)).all(1)
    bound = expected.abs().mul_(tolerance.rtol).add_(tolerance.atol)
    # An infinite bound would let the wrong infinity pass.
    bound.clamp_(max=torch.finfo(expected.dtype).max)
    error = found - expected
    right = (error.abs() <= bound).all(1)
    if math.isfinite(tolerance.norm):
        right &= within_norm(_norms(error), _norms(expected), tolerance)
    return right


def within_norm(errors: torch.Tensor, sizes: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """[answers] Whether the norms of their errors are accepted, by the norms of what is wanted."""
    if not math.isfinite(tolerance.norm):
        return torch.ones_like(errors, dtype=torch.bool)
    return errors <= tolerance.norm * sizes.clamp_min(tolerance.usual)


def compare(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> OutputComparison:
    """Compare in the precision of `expected` (the caller gives float64 where it can)."""
    if found.numel() == 0 or found.shape != expected.shape:
        raise ValueError(f"nothing to compare: {tuple(found.shape)} and {tuple(expected.shape)}")
    if tolerance.steps is not None:
        return _by_steps(found, expected, tolerance)
    hint = would_pass(found, expected) if tolerance.exact else ""
    found, expected = as_bytes(found), as_bytes(expected)
    want = expected if expected.is_floating_point() else expected.to(torch.float64)
    have = found.to(want.dtype)
    if not tolerance.exact and (within := _all_within(have, want, tolerance)):
        return within
    usual = torch.isfinite(want)
    error = (have - want).abs()
    bound = want.abs() * tolerance.rtol + tolerance.atol
    same = found == expected if tolerance.exact else have == want
    exact = same | (torch.isnan(want) & torch.isnan(have))
    share = torch.where(exact, 0.0, torch.inf if tolerance.exact else error / bound)
    # What is finite on one side only is infinitely wrong, and so is a NaN where none is wanted.
    share = torch.where(usual & torch.isfinite(have) | exact, share, torch.inf)
    finite_error = torch.where(usual & torch.isfinite(have), error, 0.0)
    relative = finite_error / want.abs().clamp_min(torch.finfo(want.dtype).tiny)
    relative = torch.where(usual & (want != 0), relative, 0.0)
    norm_error = _norm_error(finite_error, torch.where(usual, want, 0.0), tolerance.usual)
    lost = bool((~(usual & torch.isfinite(have) | exact)).any())
    by_element, by_norm = float(share.max()), norm_error / tolerance.norm
    message = ""
    if by_element > 1:
        wrong = share.reshape(-1) > 1
        at, count = int(wrong.to(torch.uint8).argmax()), int(wrong.sum())
        message = (
            f"{count} of {wrong.numel()} elements wrong, the first at {at}: "
            f"{float(have.reshape(-1)[at]):.9g} where {float(want.reshape(-1)[at]):.9g} is expected"
            f"{hint}"
        )
    elif by_norm > 1:
        message = (
            f"every element is within its tolerance, but the norm of the error is {norm_error:.2g} "
            f"of the answer's and {tolerance.norm:.2g} is accepted (a lower precision?)"
        )
    return OutputComparison(
        ok=not message,
        max_abs_error=math.inf if lost else float(finite_error.max()),
        max_rel_error=math.inf if lost else float(relative.max()),
        margin=max(by_element, by_norm),
        message=message,
        norm_error=math.inf if lost else norm_error,
    )


def _by_steps(
    found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
) -> OutputComparison:
    """Errors are in steps; none is relative."""
    off = distance(found, expected, tolerance.bits)
    worst, count = int(off.max()), int((off > 0).sum())
    most = most_off(off.numel()) if tolerance.few else off.numel()
    by_element = worst / (tolerance.steps or 1) if worst <= (tolerance.steps or 0) else math.inf
    by_count = 0.0 if count == 0 else count / most if most else math.inf
    message = ""
    if by_element > 1:
        message = f"an element is off by {worst} steps, and {tolerance.steps} are accepted"
    elif by_count > 1:
        message = (
            f"{count} of {off.numel()} elements are off by a step, and {most} may be "
            "(truncated, not rounded?)"
        )
    return OutputComparison(not message, float(worst), 0.0, max(by_element, by_count), message)


def _all_within(
    have: torch.Tensor, want: torch.Tensor, tolerance: Tolerance
) -> OutputComparison | None:
    """The comparison where all is finite and within tolerance, in half of the passes; else None.

    A value that is not finite makes its share a NaN or infinite, so it can only fail here.
    """
    error, size = (have - want).abs_(), want.abs()
    by_element = float((error / (size * tolerance.rtol).add_(tolerance.atol)).max())
    norm_error = _norm_error(error, want, tolerance.usual)
    by_norm = norm_error / tolerance.norm
    if not (by_element <= 1 and by_norm <= 1):
        return None
    relative = error / size.clamp_min(torch.finfo(want.dtype).tiny)
    return OutputComparison(
        ok=True,
        max_abs_error=float(error.max()),
        max_rel_error=float(torch.where(want != 0, relative, 0.0).max()),
        margin=max(by_element, by_norm),
        norm_error=norm_error,
    )


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Booleans as the bytes they are: only 0 and 1 are right, and torch takes any byte for true."""
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor


def _norms(tensor: torch.Tensor) -> torch.Tensor:
    """[answers] of [answers, elements]."""
    wide = torch.float64 if tensor.dtype is torch.float64 else torch.float32
    return torch.linalg.vector_norm(tensor, dim=1, dtype=wide)


def _norm_error(error: torch.Tensor, want: torch.Tensor, usual: float) -> float:
    """|error| / |want|; 0 where the wanted answer is zero."""
    size = max(float(_norms(want.reshape(1, -1))), usual)
    return float(_norms(error.reshape(1, -1))) / size if size > 0 else 0.0


def distance(found: torch.Tensor, wanted: torch.Tensor, bits: str) -> torch.Tensor:
    """Steps between elements of int8 or uint8. bits: the float8 that they hold, "" for integers.

    Both zeros of a float8 are equal, and so are its NaNs. An infinity is no step from the largest
    number: whether a kernel saturates is no question of rounding.
    """

    def rank(tensor: torch.Tensor) -> torch.Tensor:
        """The place of each element in the order of all values, in int16."""
        if not bits:
            return tensor.to(torch.int16)
        infinity, no_number = SPECIAL[bits]
        byte = tensor.view(torch.uint8).to(torch.int16)
        size = byte & 0x7F
        place = torch.where(size == infinity, INFINITE, size)
        place = torch.where(byte >= 0x80, -place, place)
        return torch.where(size >= no_number, NO_NUMBER, place).to(torch.int16)

    return (rank(found) - rank(wanted)).abs()


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


def forgiven(found: torch.Tensor, want: torch.Tensor, also: torch.Tensor | None) -> torch.Tensor:
    """`found`, in which any other right answer is replaced by the wanted one."""
    if also is None:
        return found
    whole, low, high = as_bytes(found), also.amin(dim=0), also.amax(dim=0)
    between = (whole >= low) & (whole <= high) & (high - low <= APART)
    right = between | (whole == also).any(dim=0)
    return torch.where(right, as_bytes(want), whole).view(found.dtype)
