"""PURE: what is asked of the team's experience, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge.experience.terms import Bottleneck


@dataclass(frozen=True, slots=True)
class Question:
    """What to try on this kernel? "" and None are unknown.

    platform: a slug of the wiki, or a name that it does not know. arch: "sm_90"; taken from the
    platform where it is "". size_log2: log2 of the elements of a typical shape.
    """

    op: str = ""
    backend: str = ""
    platform: str = ""
    arch: str = ""
    dtype: str = ""
    bottleneck: str = Bottleneck.UNKNOWN
    size_log2: float | None = None


@dataclass(frozen=True, slots=True)
class ScoreReason:
    """One part of a score. points: added to it; negative where it takes away."""

    words: str
    points: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A strategy with its record in the nearest contexts that hold enough of it.

    title: of the catalogue; the strategy itself where it is not in it. score: the sum of the
    points of its reasons. scope: the contexts that the numbers are from, in words.
    tried, worked: attempts. gain_median: over the incumbent, of the nearest 50 attempts or more;
    0.05 is 5 % faster, with its 95 % interval; None where nothing was measured. recent_failures:
    of the newest attempts in the same context. entries: UUIDs of a few of the attempts, the most
    telling first. tracks: keys of the contexts. lessons: UUIDs of the lessons about it,
    anti-patterns first.
    """

    strategy: str
    title: str
    score: float
    scope: str
    reasons: tuple[ScoreReason, ...]
    tried: int
    worked: int
    gain_median: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    recent_failures: int = 0
    entries: tuple[str, ...] = ()
    tracks: tuple[int, ...] = ()
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to try, best first, and what not to try, worst first.

    scope: what was asked about, in words. excluded: reason → attempts that were left out; those of
    other platforms and backends only where there are fewer hits than asked for.
    """

    hits: tuple[Hit, ...] = ()
    avoid: tuple[Hit, ...] = ()
    scope: str = ""
    excluded: Mapping[str, int] = field(default_factory=dict)
