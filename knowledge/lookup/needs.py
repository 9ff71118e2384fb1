"""What a roofline needs to know of a platform, and which of its values answer that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knowledge.lookup.standing import current
from knowledge.lookup.value import ACCUMULATES, SHORT_FLOATS, UNITS
from knowledge.models import Platform, Spec
from knowledge.specs.facts import UNKNOWN_VALUE, PlatformKind, Rank

Question = tuple[str, tuple[tuple[str, str], ...]]  # metric, sorted qualifiers
# What a CPU has been asked for so far; its caches and cores bound no roof of ours.
CPU_DTYPES = ("float64", "float32")


@dataclass(frozen=True, slots=True)
class Need:
    """One field of a roofline. Any of `answers` fills it; the first is what to look for."""

    title: str
    answers: tuple[Question, ...]

    @property
    def first(self) -> Question:
        return self.answers[0]


def _dtype(name: str, *, measured_first: bool) -> Need:
    peaks: list[Question] = [(peak, ()) for _, peak in UNITS[name]]
    if name in SHORT_FLOATS:
        # What a campaign asks where a platform's rates differ by what is summed up in.
        peaks += [(peak, (("accumulate", ACCUMULATES[0]),)) for _, peak in UNITS[name]]
    rates = [(rate, (("dtype", name),)) for rate, _ in UNITS[name]]
    groups = (rates, peaks) if measured_first else (peaks, rates)
    return Need(f"{name} rate", tuple(dict.fromkeys(q for group in groups for q in group)))


_BANDWIDTHS: tuple[Question, ...] = (("memory_bandwidth", ()), ("copy_bandwidth", ()))
NEEDS: Mapping[str, tuple[Need, ...]] = {
    PlatformKind.GPU: (
        Need("memory bandwidth", _BANDWIDTHS),
        Need("multiprocessors", (("sm_count", ()), ("cu_count", ()))),
        Need("second-level cache", (("l2_size", ()),)),
        *(_dtype(name, measured_first=False) for name in UNITS),
    ),
    PlatformKind.CPU: (
        Need("memory bandwidth", _BANDWIDTHS[::-1]),
        *(_dtype(name, measured_first=True) for name in CPU_DTYPES),
    ),
}
METRICS_NEEDED = frozenset(
    metric for needs in NEEDS.values() for need in needs for metric, _ in need.answers
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many fields of its roofline a platform has, and the titles of those that it lacks."""

    known: int
    total: int
    missing: tuple[str, ...]


def question_of(spec: Spec) -> Question:
    """What a spec answers: its metric and qualifiers."""
    return spec.metric, tuple(sorted(spec.qualifiers.items()))


def unanswered(kind: str, answered: Iterable[Question]) -> list[Need]:
    """The needs of a platform of this kind that none of the answered questions fills."""
    known = set(answered)
    return [need for need in NEEDS.get(kind, ()) if known.isdisjoint(need.answers)]


def answers(spec: Spec) -> bool:
    """Whether an approved spec is an answer: the preferred value, or that the part has none."""
    return spec.shown != UNKNOWN_VALUE and spec.rank == Rank.PREFERRED


def coverage(platforms: Iterable[Platform]) -> dict[int, Coverage]:
    """Platform key → what its roofline has and lacks. What is UNKNOWN or stale answers nothing.

    A fixed number of queries.
    """
    listed = list(platforms)
    rows = Spec.objects.preferred().filter(metric__in=METRICS_NEEDED, platform__in=listed)
    found: dict[int, set[Question]] = defaultdict(set)
    for spec in current(list(rows.exclude(shown=UNKNOWN_VALUE).for_sheet())):
        found[spec.platform_id].add(question_of(spec))
    return {p.pk: _coverage(p.kind, found[p.pk]) for p in listed}


def _coverage(kind: str, answered: set[Question]) -> Coverage:
    total = len(NEEDS.get(kind, ()))
    missing = tuple(need.title for need in unanswered(kind, answered))
    return Coverage(total - len(missing), total, missing)
