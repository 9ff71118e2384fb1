"""How the wiki stands: needs of rooflines, what waits for a person, what happened last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, Exists, OuterRef

from knowledge.lookup.standing import current
from knowledge.lookup.value import ACCUMULATES, SHORT_FLOATS, UNITS
from knowledge.models import Action, Flag, FlagKind, Platform, Spec, SpecChange, SpecState
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.facts import UNKNOWN_VALUE, PlatformKind, Rank

Question = tuple[str, tuple[tuple[str, str], ...]]  # metric, sorted qualifiers
# What a CPU has been asked for so far; its caches and cores bound no roof of ours.
CPU_DTYPES = ("float64", "float32")
_BANDWIDTHS: tuple[Question, ...] = (("memory_bandwidth", ()), ("copy_bandwidth", ()))
CHANGES_READ = 400  # an import writes many lines at once; they become one entry


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
    covered = {}
    for platform in listed:
        total = len(NEEDS.get(platform.kind, ()))
        lacks = tuple(need.title for need in unanswered(platform.kind, found[platform.pk]))
        covered[platform.pk] = Coverage(total - len(lacks), total, lacks)
    return covered


@dataclass(frozen=True, slots=True)
class Health:
    """Counts of specs, and of specs with an open flag by kind.

    never_reviewed: approved, but only ever by a command of this installation.
    """

    approved: int
    in_review: int
    returned: int
    never_reviewed: int
    flags: dict[FlagKind, int]


@dataclass(frozen=True, slots=True)
class Happening:
    """Changes that one person made in one go for one reason; the newest first.

    open_end: it may reach further back than was read.
    """

    changes: Sequence[SpecChange]
    open_end: bool = False

    @property
    def first(self) -> SpecChange:
        return self.changes[0]

    @property
    def platforms(self) -> list[str]:
        """The names of the platforms concerned, each once."""
        return list(dict.fromkeys(change.spec.platform.name for change in self.changes))


def never_reviewed(specs: SpecQuerySet) -> SpecQuerySet:
    """Approved values that no person has ever approved."""
    by_a_person = SpecChange.objects.filter(
        spec=OuterRef("pk"), action=Action.APPROVED, by__isnull=False
    )
    return specs.approved().filter(~Exists(by_a_person))


def health() -> Health:
    """The counts of now; three queries."""
    states = dict(Spec.objects.order_by().values_list("state").annotate(Count("pk")))
    open_flags = Flag.objects.open().order_by().values_list("kind")
    flagged = dict(open_flags.annotate(Count("spec", distinct=True)))
    return Health(
        approved=states.get(SpecState.APPROVED, 0),
        in_review=states.get(SpecState.PROPOSED, 0),
        returned=states.get(SpecState.RETURNED, 0),
        never_reviewed=never_reviewed(Spec.objects.all()).count(),
        flags={kind: flagged.get(kind, 0) for kind in FlagKind},
    )


def happenings(most: int) -> list[Happening]:
    """What changed here last, newest first; what one person did in a row is one entry."""
    here = SpecChange.objects.filter(elsewhere__isnull=True)
    rows = here.select_related("spec__platform", "by").order_by("-pk")
    recent = list(rows[:CHANGES_READ])
    found: list[Happening] = []
    read = 0
    for _, group in groupby(recent, key=lambda c: (c.action, c.by_id, c.why)):
        changes = tuple(group)
        read += len(changes)
        found.append(Happening(changes, open_end=read == CHANGES_READ))
    return found[:most]
