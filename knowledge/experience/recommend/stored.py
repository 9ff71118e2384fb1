"""What recommending reads: contexts, lessons, the catalogue, the attempts behind a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Q, Sum, Window
from django.db.models.functions import RowNumber

from knowledge.experience.families import family_of
from knowledge.experience.recommend.question import Question
from knowledge.experience.recommend.score import ContextRecord, Ranked, plain_arch
from knowledge.experience.track import bounds
from knowledge.models import (
    EntryStanding,
    Experience,
    Lesson,
    LessonState,
    Strategy,
    StrategyKind,
    TrackRecord,
)

MOST_CONTEXTS = 2_000  # of one scope, those with the most attempts
EXAMPLES = 3
COLUMNS = (
    "pk", "strategy", "op", "dtype", "backend", "platform", "arch", "bottleneck",
    "size_log2", "tried", "gains", "gain_median", "recent_failures",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AttemptSpread:
    """Of the attempts behind a record: the median gain with its interval, and some of them."""

    median: float | None = None
    low: float | None = None
    high: float | None = None
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class StrategyNotes:
    """What is said about strategies: titles, anti-patterns of the catalogue, lessons."""

    titles: Mapping[str, str] = field(default_factory=dict)
    anti: frozenset[str] = frozenset()
    lessons: Mapping[str, Sequence[Lesson]] = field(default_factory=dict)

    def warning(self, strategy: str) -> str:
        """Why it is an anti-pattern; "" if it is not."""
        for lesson in self.lessons.get(strategy, ()):
            if lesson.state == LessonState.ANTI_PATTERN:
                return f"anti-pattern: {lesson}"
        return "an anti-pattern of the catalogue" if strategy in self.anti else ""


def contexts_of(where: Q) -> list[ContextRecord]:
    """The contexts with an attempt, those with the most first; at most `MOST_CONTEXTS`."""
    worked = F("successes") + F("smalls") + F("micros")
    rows = (
        TrackRecord.objects.filter(where, tried__gt=0)
        .order_by("-tried", "pk")
        .values_list(*COLUMNS, worked)[:MOST_CONTEXTS]
    )
    return [
        ContextRecord(
            key=row[0],
            strategy=row[1],
            op=row[2],
            dtype=row[3],
            backend=row[4],
            platform=row[5],
            arch=row[6],
            bottleneck=row[7],
            size_log2=row[8],
            tried=row[9],
            gains=row[10],
            gain=row[11],
            recent_failures=row[12],
            worked=row[13],
        )
        for row in rows
    ]


def outside(question: Question) -> dict[str, int]:
    """Attempts on the same operation that the scope leaves out, by reason."""
    elsewhere = Q(backend=question.backend) & ~Q(platform=question.platform)
    found = TrackRecord.objects.filter(op=question.op).aggregate(
        platforms=Sum("tried", filter=elsewhere),
        backends=Sum("tried", filter=~Q(backend=question.backend)),
    )
    return {
        "on other platforms": found["platforms"] or 0,
        "with other backends": found["backends"] or 0,
    }


def notes_for(question: Question) -> StrategyNotes:
    """The catalogue, and the lessons on strategies whose scope holds the question."""
    rows = list(Strategy.objects.values_list("slug", "title", "kind"))
    lessons: dict[str, list[Lesson]] = {}
    within = {
        "op__in": {"", question.op, family_of(question.op)},
        "backend__in": {"", question.backend},
        "platform__in": {"", question.platform},
        "arch__in": {"", question.arch, plain_arch(question.arch)},
        "dtype__in": {"", question.dtype},
    }
    read = (LessonState.ANTI_PATTERN, LessonState.ACTIVE)
    for lesson in Lesson.objects.filter(state__in=read, **within).exclude(strategy=""):
        lessons.setdefault(lesson.strategy, []).append(lesson)
    for said in lessons.values():
        said.sort(key=lambda lesson: (read.index(LessonState(lesson.state)), lesson.pk))
    return StrategyNotes(
        titles={slug: title for slug, title, _ in rows},
        anti=frozenset(slug for slug, _, kind in rows if kind == StrategyKind.ANTI_PATTERN),
        lessons=lessons,
    )


def spreads(judged: Sequence[Ranked]) -> dict[str, AttemptSpread]:
    """Strategy → the attempts of its contexts. The strategies must differ."""
    wanted, places = Q(pk__in=()), {}
    for each in judged:
        places[each.strategy] = ranks = _ranks(each)
        wanted |= Q(name=each.strategy, rank__in=set(ranks))
    keys = [context.key for each in judged for context in each.contexts]
    rank = Window(
        RowNumber(),
        partition_by=F("track__strategy"),
        order_by=(F("gain").desc(nulls_last=True), F("pk").asc()),
    )
    rows = (
        Experience.objects.filter(track__in=keys, standing=EntryStanding.COUNTS)
        .annotate(name=F("track__strategy"), rank=rank)
        .filter(wanted)
        .order_by()
        .values_list("name", "rank", "gain", "uuid")
    )
    found = {(name, rank): (gain, str(uuid)) for name, rank, gain, uuid in rows}
    return {name: _spread(name, ranks, found) for name, ranks in places.items()}


def _ranks(judged: Ranked) -> list[int]:
    """The ranks, from 1 for the highest gain, of the examples; then of median, low and high.

    The examples are the best, or of what is to be avoided the worst.
    """
    first = max(1, judged.tried - EXAMPLES + 1)
    shown = list(range(first, judged.tried + 1) if judged.avoid else range(1, EXAMPLES + 1))
    measured = sum(context.gains for context in judged.contexts)
    if not measured:
        return [*shown, 0, 0, 0]
    low, high = bounds(measured)
    rising = ((measured - 1) // 2, low, high)
    return [*(reversed(shown) if judged.avoid else shown), *(measured - at for at in rising)]


def _spread(
    name: str, ranks: Sequence[int], found: Mapping[tuple[str, int], tuple[float | None, str]]
) -> AttemptSpread:
    *shown, median, low, high = (found.get((name, rank)) for rank in ranks)
    gain, least, most = (each[0] if each else None for each in (median, low, high))
    return AttemptSpread(gain, least, most, tuple(each[1] for each in shown if each))
