"""What recommending reads: contexts, lessons, the catalogue, the attempts behind a record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Q, Sum

from knowledge.experience.families import family_of
from knowledge.experience.recommend.question import Question
from knowledge.experience.recommend.score import ContextRecord, Ranked, plain_arch
from knowledge.experience.spread import NONE_MEASURED, GainSpread, spread_of
from knowledge.models import (
    EntryStanding,
    Experience,
    Lesson,
    LessonState,
    Strategy,
    StrategyKind,
    TrackRecord,
)

ENOUGH = 50  # attempts that tell an effect
EXAMPLES = 3
Attempt = tuple[float | None, str]  # gain, UUID
# In the order of `ContextRecord`.
COLUMNS = (
    "pk", "strategy", "op", "dtype", "backend", "platform", "arch", "bottleneck",
    "size_log2", "tried", "gains", "gain_median", "recent_failures",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AttemptSpread:
    """Of the nearest attempts behind a record: their gains, and the UUIDs of some of them."""

    gain: GainSpread = NONE_MEASURED
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


def contexts_of(where: Q, most: int) -> list[ContextRecord]:
    """The contexts with an attempt, those with the most first; at most so many of them."""
    worked = F("successes") + F("smalls") + F("micros")
    rows = (
        TrackRecord.objects.filter(where, tried__gt=0)
        .order_by("-tried", "pk")
        .values_list(*COLUMNS, worked)[:most]
    )
    return [ContextRecord._make(row) for row in rows]


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
    """Strategy → the attempts of its nearest contexts. The strategies must differ."""
    nearest = {each.strategy: _nearest(each) for each in judged}
    attempts: dict[int, list[Attempt]] = {}
    wanted = [key for keys in nearest.values() for key in keys]
    counting = Experience.objects.filter(track__in=wanted, standing=EntryStanding.COUNTS)
    for key, gain, uuid in counting.values_list("track", "gain", "uuid").order_by("pk"):
        attempts.setdefault(key, []).append((gain, str(uuid)))
    return {
        each.strategy: _spread(
            [one for key in nearest[each.strategy] for one in attempts.get(key, ())],
            worst=each.avoid,
        )
        for each in judged
    }


def _nearest(judged: Ranked) -> list[int]:
    """The keys of the nearest of its contexts that hold enough attempts."""
    keys, tried = [], 0
    for context in judged.contexts:
        keys.append(context.key)
        tried += context.tried
        if tried >= ENOUGH:
            break
    return keys


def _spread(attempts: Sequence[Attempt], *, worst: bool) -> AttemptSpread:
    """The examples are the best, or the worst; the worst of all has no gain, for it was wrong."""
    shown = sorted(attempts, key=lambda each: -math.inf if each[0] is None else each[0])
    if not worst:
        shown.reverse()
    examples = tuple(uuid for _, uuid in shown[:EXAMPLES])
    return AttemptSpread(spread_of(gain for gain, _ in attempts if gain is not None), examples)
