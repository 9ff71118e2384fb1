"""Is an output right? Finite first, every element, and an empty comparison is an error."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Comparison:
    """margin is the worst error as a share of its tolerance atol + rtol * |expected|."""

    ok: bool
    max_abs_error: float
    max_rel_error: float
    margin: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    atol: float
    rtol: float


def quick(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> bool:
    """True when every element is finite and within tolerance; False says: look closer.

    A NaN anywhere makes its own comparison False, so it can only ever fail here.
    """
    if found.numel() == 0:
        return False
    if not expected.is_floating_point():
        return bool(torch.equal(found, expected))
    bound = expected.abs().mul_(tolerance.rtol).add_(tolerance.atol)
    # An infinite bound would let the wrong infinity pass.
    bound.clamp_(max=torch.finfo(expected.dtype).max)
    return bool(((found - expected).abs_() <= bound).all())


def compare(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> Comparison:
    """Compare in the precision of `expected` (the caller gives float64 where it can)."""
    if found.numel() == 0 or found.shape != expected.shape:
        raise ValueError(f"nothing to compare: {tuple(found.shape)} and {tuple(expected.shape)}")
    want = expected if expected.is_floating_point() else expected.to(torch.float64)
    have = found.to(want.dtype)
    usual = torch.isfinite(want)
    error = (have - want).abs()
    bound = want.abs() * tolerance.rtol + tolerance.atol
    exact = (have == want) | (torch.isnan(want) & torch.isnan(have))
    share = torch.where(exact, 0.0, error / bound)
    # What is finite on one side only is infinitely wrong, and so is a NaN where none is wanted.
    share = torch.where(usual & torch.isfinite(have) | exact, share, torch.inf)
    worst = int(share.argmax())
    margin = float(share.reshape(-1)[worst])
    finite_error = torch.where(usual & torch.isfinite(have), error, 0.0)
    relative = finite_error / want.abs().clamp_min(torch.finfo(want.dtype).tiny)
    relative = torch.where(usual & (want != 0), relative, 0.0)
    message = "" if margin <= 1 else _first_bad(have, want, share)
    return Comparison(
        ok=margin <= 1,
        max_abs_error=float(finite_error.max()),
        max_rel_error=float(relative.max()),
        margin=margin,
        message=message,
    )


def _first_bad(have: torch.Tensor, want: torch.Tensor, share: torch.Tensor) -> str:
    wrong = share.reshape(-1) > 1
    at = int(wrong.to(torch.uint8).argmax())
    count = int(wrong.sum())
    found, expected = float(have.reshape(-1)[at]), float(want.reshape(-1)[at])
    return (
        f"{count} of {wrong.numel()} elements wrong, the first at {at}: "
        f"{found:.9g} where {expected:.9g} is expected"
    )
