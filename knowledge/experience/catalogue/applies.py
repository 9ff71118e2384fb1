"""PURE: which entries of the catalogue apply to a kernel, and how far a row of a guide reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol

from knowledge.experience.terms import FAMILIES, Bottleneck, family_of

BACKENDS = ("cpp", "cuda", "cutedsl", "flydsl", "hip", "triton")
VENDORS = ("NVIDIA", "AMD")
LIMITS = tuple(each.value for each in Bottleneck if each not in ("mixed", "unknown"))
# A chain of kernels and copies, which no single timed call is.
PIPELINE = "pipeline"
OPS = frozenset((PIPELINE, *FAMILIES, *(op for ops in FAMILIES.values() for op in ops)))
ARCH = re.compile(r"sm_\d+\+?|gfx[0-9a-f]{2,}")
ANYTHING = frozenset(("", "–", "any backend"))
ACCEPTED = (
    f"a backend ({', '.join(BACKENDS)}), a vendor ({', '.join(VENDORS)}), an architecture such as "
    f"sm_90+ or gfx942, an operation or a family of them ({', '.join(FAMILIES)}), or a limit "
    f"({', '.join(LIMITS)})"
)
# A kernel in these is written at the level of HIP: its levers are the same.
ALSO = {"flydsl": "hip"}
UNDECIDED = ("", Bottleneck.UNKNOWN, Bottleneck.MIXED)
NUMBER = re.compile(r"\d+")


class ReachError(ValueError):
    """A word that says nothing; the message names what is accepted."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a strategy is for and where it applies; what is empty is not narrowed."""

    backend: str = ""
    limits: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    archs: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def narrowed(self, row: Reach) -> Reach:
        """This one with what a single row says instead."""
        said = {f.name: getattr(row, f.name) for f in fields(row) if getattr(row, f.name)}
        return replace(self, **said)


def read_reach(text: str) -> Reach:
    """ "memory, sm_90+, matmul" as its parts. Raises ReachError."""
    found: dict[str, list[str]] = {}
    for word in (part.strip() for part in text.split(",")):
        if word in ANYTHING:
            continue
        words = {"limits": LIMITS, "backend": BACKENDS, "vendors": VENDORS, "ops": OPS}
        name = next((name for name, accepted in words.items() if word in accepted), "archs")
        if name == "archs" and not ARCH.fullmatch(word):
            raise ReachError(f"'{word}'; accepted: {ACCEPTED}")
        found.setdefault(name, []).append(word)
    backends = found.pop("backend", [])
    if len(backends) > 1:
        raise ReachError(f"backends {' and '.join(backends)}; accepted: one")
    lists = {name: tuple(dict.fromkeys(words)) for name, words in found.items()}
    return Reach(backend="".join(backends), **lists)


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
    against = ""
    if backend and strategy.backend not in ("", backend, ALSO.get(backend)):
        against = f"{strategy.backend}, not {backend}"
    elif vendor and strategy.vendors and vendor not in strategy.vendors:
        against = f"{' or '.join(strategy.vendors)}, not {vendor}"
    elif arch and strategy.archs and not any(_is_arch(each, arch) for each in strategy.archs):
        against = f"{' or '.join(strategy.archs)}, not {arch}"
    elif op and strategy.ops and not {op, family_of(op)} & set(strategy.ops):
        against = f"{' or '.join(strategy.ops)}, not {op}"
    elif not is_for(strategy.limits, bottleneck):
        against = f"kernels limited by {' or '.join(strategy.limits)}, not {bottleneck}"
    if against:
        return Applicability(False, f"it is for {against}")
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
