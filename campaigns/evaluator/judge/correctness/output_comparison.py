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

# So many elements are compared at once: in float64 with what it takes in between, about a gigabyte.
PIECE = 1 << 24

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
    right = torch.ones(len(found), dtype=torch.bool, device=found.device)
    errors = sizes = torch.zeros(1, device=found.device)
    for have, want in zip(found.split(PIECE, 1), expected.split(PIECE, 1), strict=True):
        if not want.is_floating_point():
            right &= (as_bytes(have) == as_bytes(want)).all(1)
            continue
        bound = want.abs().mul_(tolerance.rtol).add_(tolerance.atol)
        # An infinite bound would let the wrong infinity pass.
        bound.clamp_(max=torch.finfo(want.dtype).max)
        error = have - want
        right &= (error.abs() <= bound).all(1)
        if math.isfinite(tolerance.norm):
            errors, sizes = torch.hypot(errors, _norms(error)), torch.hypot(sizes, _norms(want))
    if expected.is_floating_point():
        right &= within_norm(errors, sizes, tolerance)
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
    have, want = as_bytes(found).reshape(-1), as_bytes(expected).reshape(-1)
    errors = [
        _errors(*piece, tolerance)
        for piece in zip(have.split(PIECE), want.split(PIECE), strict=True)
    ]
    size = max(math.hypot(*(one.wanted_norm for one in errors)), tolerance.usual)
    norm_error = math.hypot(*(one.error_norm for one in errors)) / size if size > 0 else 0.0
    by_element, by_norm = max(one.share for one in errors), norm_error / tolerance.norm
    message = ""
    if by_element > 1:
        number = next(n for n, one in enumerate(errors) if one.wrong)
        at = number * PIECE + errors[number].at
        hint = would_pass(found, expected) if tolerance.exact else ""
        message = (
            f"{sum(one.wrong for one in errors)} of {have.numel()} elements wrong, the first at "
            f"{at}: {float(have[at]):.9g} where {float(want[at]):.9g} is expected{hint}"
        )
    elif by_norm > 1:
        message = (
            f"every element is within its tolerance, but the norm of the error is {norm_error:.2g} "
            f"of the answer's and {tolerance.norm:.2g} is accepted (a lower precision?)"
        )
    lost = any(one.lost for one in errors)
    return OutputComparison(
        ok=not message,
        max_abs_error=math.inf if lost else max(one.largest for one in errors),
        max_rel_error=math.inf if lost else max(one.relative for one in errors),
        margin=max(by_element, by_norm),
        message=message,
        norm_error=math.inf if lost else norm_error,
    )


@dataclass(frozen=True, slots=True)
class _Errors:
    """The errors of one piece of an output. share: the worst, as a share of what is accepted.

    wrong: how many elements are. at: the place of the first wrong one. lost: whether one is finite
    on one side only.
    """

    share: float
    largest: float
    relative: float
    error_norm: float
    wanted_norm: float
    wrong: int = 0
    at: int = 0
    lost: bool = False


def _errors(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> _Errors:
    """Compare one piece, [elements]."""
    want = expected if expected.is_floating_point() else expected.to(torch.float64)
    have = found.to(want.dtype)
    error, size = (have - want).abs(), want.abs()
    share = error / (size * tolerance.rtol + tolerance.atol)
    tiny = torch.finfo(want.dtype).tiny
    # A value that is not finite makes its share a NaN or infinite, so it can only fail here.
    if not tolerance.exact and float(share.max()) <= 1:
        relative = torch.where(want != 0, error / size.clamp_min(tiny), 0.0)
        return _Errors(
            float(share.max()), float(error.max()), float(relative.max()), _norm(error), _norm(want)
        )
    usual = torch.isfinite(want)
    both = usual & torch.isfinite(have)
    same = found == expected if tolerance.exact else have == want
    exact = same | (torch.isnan(want) & torch.isnan(have))
    share = torch.where(exact, 0.0, torch.inf if tolerance.exact else share)
    # What is finite on one side only is infinitely wrong, and so is a NaN where none is wanted.
    share = torch.where(both | exact, share, torch.inf)
    error = torch.where(both, error, 0.0)
    relative = torch.where(usual & (want != 0), error / size.clamp_min(tiny), 0.0)
    wrong = share > 1
    return _Errors(
        share=float(share.max()),
        largest=float(error.max()),
        relative=float(relative.max()),
        error_norm=_norm(error),
        wanted_norm=_norm(torch.where(usual, want, 0.0)),
        wrong=int(wrong.sum()),
        at=int(wrong.to(torch.uint8).argmax()),
        lost=not bool((both | exact).all()),
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


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Booleans as the bytes they are: only 0 and 1 are right, and torch takes any byte for true."""
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor


def _norms(tensor: torch.Tensor) -> torch.Tensor:
    """[answers] of [answers, elements]."""
    wide = torch.float64 if tensor.dtype is torch.float64 else torch.float32
    return torch.linalg.vector_norm(tensor, dim=1, dtype=wide)


def _norm(tensor: torch.Tensor) -> float:
    return float(_norms(tensor.reshape(1, -1)))


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
