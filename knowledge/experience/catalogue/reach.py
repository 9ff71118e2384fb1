"""PURE: the words that say what a strategy is for and where it applies."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from knowledge.experience.families import FAMILIES
from knowledge.experience.terms import Bottleneck

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
        if word not in ANYTHING:
            found.setdefault(_field(word), []).append(word)
    backends = found.pop("backend", [])
    if len(backends) > 1:
        raise ReachError(f"backends {' and '.join(backends)}; accepted: one")
    lists = {name: tuple(dict.fromkeys(words)) for name, words in found.items()}
    return Reach(backend="".join(backends), **lists)


def _field(word: str) -> str:
    if word in LIMITS:
        return "limits"
    if word in BACKENDS:
        return "backend"
    if word in VENDORS:
        return "vendors"
    if ARCH.fullmatch(word):
        return "archs"
    if word in OPS:
        return "ops"
    raise ReachError(f"'{word}'; accepted: {ACCEPTED}")
