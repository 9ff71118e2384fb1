"""PURE: whether a strategy can fit an operation, a backend, a chip and what limits a kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from knowledge.experience.families import family_of
from knowledge.experience.terms import Bottleneck

# A kernel in these is written at the level of HIP: its levers are the same.
ALSO = {"flydsl": "hip"}
UNDECIDED = ("", Bottleneck.UNKNOWN, Bottleneck.MIXED)
NUMBER = re.compile(r"\d+")


class Applicable(Protocol):
    """What a strategy says about where it applies; see `knowledge.models.Strategy`."""

    @property
    def backend(self) -> str: ...
    @property
    def limits(self) -> Sequence[str]: ...
    @property
    def vendors(self) -> Sequence[str]: ...
    @property
    def archs(self) -> Sequence[str]: ...
    @property
    def ops(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Applicability:
    """True where a strategy fits. why: what it fits, or what it is for instead."""

    fits: bool
    why: str

    def __bool__(self) -> bool:
        return self.fits


def applies(
    strategy: Applicable,
    *,
    backend: str = "",
    op: str = "",
    vendor: str = "",
    arch: str = "",
    bottleneck: str = "",
) -> Applicability:
    """Whether it can fit. What is asked as "" is unknown, and excludes nothing."""
    against = next(_against(strategy, backend, op, vendor, arch), "")
    if not against and not is_for(strategy.limits, bottleneck):
        against = f"it is for kernels limited by {_listed(strategy.limits)}, not {bottleneck}"
    if against:
        return Applicability(False, against)
    asked = [part for part in (op, backend, arch or vendor, bottleneck) if part]
    return Applicability(True, f"it fits {', '.join(asked)}" if asked else "nothing was asked")


def is_for(limits: Sequence[str], bottleneck: str) -> bool:
    """Whether it helps a kernel with this bottleneck; one that is unknown excludes nothing."""
    if not limits or bottleneck in UNDECIDED:
        return True
    # "memory" is for both kinds of it; a kernel known by its roofline only may be of either kind.
    return any(
        limit == bottleneck
        or bottleneck == limit.partition("_")[0]
        or limit == bottleneck.partition("_")[0]
        for limit in limits
    )


def _against(strategy: Applicable, backend: str, op: str, vendor: str, arch: str) -> Iterator[str]:
    if backend and strategy.backend not in ("", backend, ALSO.get(backend)):
        yield f"it is for {strategy.backend}, not {backend}"
    if vendor and strategy.vendors and vendor not in strategy.vendors:
        yield f"it is for {_listed(strategy.vendors)}, not {vendor}"
    if arch and strategy.archs and not any(_is_arch(each, arch) for each in strategy.archs):
        yield f"it is for {_listed(strategy.archs)}, not {arch}"
    if op and strategy.ops and not {op, family_of(op)} & set(strategy.ops):
        yield f"it is for {_listed(strategy.ops)}, not {op}"


def _is_arch(wanted: str, arch: str) -> bool:
    """sm_90 is sm_90a too, sm_90+ all later ones; gfx11 is every part that begins so."""
    if not wanted.startswith("sm_"):
        return arch.startswith(wanted)
    number = NUMBER.search(arch) if arch.startswith("sm_") else None
    least = NUMBER.search(wanted)
    if number is None or least is None:
        return False
    have, need = int(number[0]), int(least[0])
    return have >= need if wanted.endswith("+") else have == need


def _listed(words: Sequence[str]) -> str:
    return " or ".join(words)
