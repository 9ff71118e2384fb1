"""Ask the team's experience what to try next: a few queries, and the pure ranking (R38)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import F, Q, Sum

from knowledge.experience.catalogue.names import Place, place_of
from knowledge.experience.recommend.score import (
    ContextRecord,
    Hit,
    Question,
    Ranked,
    Recommendation,
    ScoreReason,
    judge,
    plain_arch,
)
from knowledge.experience.terms import family_of
from knowledge.experience.wording import spread_of
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
# In the order of `ContextRecord`.
COLUMNS = (
    "pk", "strategy", "op", "dtype", "backend", "platform", "arch", "bottleneck",
    "size_log2", "tried", "gains", "gain_median", "recent_failures",
)  # fmt: skip
MOST_CONTEXTS, MOST_AROUND = 1_000, 300  # of one step, those with the most attempts
IN_SCOPE = 2  # steps: the operation, its family; what fails there is to be avoided
Found = tuple[Ranked, str]  # with how the scope was widened for it


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


def recommend(question: Question, limit: int = 5) -> Recommendation:
    """The strategies that worked in this scope, and those that did not; at most limit of each.

    The scope is the operation, the backend and the platform. Only where it has fewer than limit
    hits is it widened: to the family of the operation, to the same architecture, to the same
    vendor, to other backends. Each hit says where its numbers are from. Without an operation there
    is nothing to recommend.
    """
    place = place_of(question.platform, question.arch)
    asked = replace(question, platform=place.platform, arch=place.arch)
    scope = _words(asked.op, asked.backend, asked.platform or asked.arch)
    if not asked.op:
        return Recommendation(scope=scope)
    notes = _notes_for(asked)
    hits, avoid, excluded = _found(asked, place, notes, limit)
    known = {each.strategy for each, _ in (*hits, *avoid)}
    unseen = [name for name in sorted(notes.lessons) if name not in known and notes.warning(name)]
    # An anti-pattern stands before a bad record; one without an attempt in this scope is a hit too.
    untried = [
        _hit(Ranked(name, 0.0, (), (), 0, 0, 0, avoid=True), "", (), notes)
        for name in unseen[:limit]
    ]
    worst = sorted(avoid, key=lambda pair: not notes.warning(pair[0].strategy))
    worst = worst[: max(0, limit - len(unseen))]
    attempts = _attempts([each for each, _ in (*hits[:limit], *worst)])
    return Recommendation(
        tuple(_hit(each, wide, attempts[each.strategy], notes) for each, wide in hits[:limit]),
        (*untried, *(_hit(each, wide, attempts[each.strategy], notes) for each, wide in worst)),
        scope=scope,
        excluded=excluded,
    )


def _notes_for(question: Question) -> StrategyNotes:
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


def _found(
    asked: Question, place: Place, notes: StrategyNotes, limit: int
) -> tuple[list[Found], list[Found], dict[str, int]]:
    """Hits and what to avoid, and the attempts that were left out, by reason."""
    hits: list[Found] = []
    avoid: list[Found] = []
    seen: set[str] = set()
    excluded: Counter[str] = Counter()
    worked = F("successes") + F("smalls") + F("micros")
    for at, (widened, where) in enumerate(_widenings(asked, place)):
        # The contexts with an attempt, those with the most first.
        tracks = TrackRecord.objects.filter(where, tried__gt=0).order_by("-tried", "pk")
        rows = tracks.values_list(*COLUMNS, worked)
        most = MOST_CONTEXTS if at < IN_SCOPE else MOST_AROUND
        judged, left_out = judge(asked, [ContextRecord._make(row) for row in rows[:most]])
        for each in judged:
            if each.strategy in seen:
                continue
            seen.add(each.strategy)
            if not each.avoid and not notes.warning(each.strategy):
                hits.append((each, widened))
            elif at < IN_SCOPE:
                avoid.append((each, widened))
        if at < IN_SCOPE:
            excluded.update(left_out)
        if len(hits) >= limit:
            break
    else:
        elsewhere = Q(backend=asked.backend) & ~Q(platform=asked.platform)
        outside = TrackRecord.objects.filter(op=asked.op).aggregate(
            platforms=Sum("tried", filter=elsewhere),
            backends=Sum("tried", filter=~Q(backend=asked.backend)),
        )
        excluded["on other platforms"] = outside["platforms"] or 0
        excluded["with other backends"] = outside["backends"] or 0
    return hits, avoid, {why: n for why, n in excluded.items() if n}


def _widenings(asked: Question, place: Place) -> Iterator[tuple[str, Q]]:
    """The scope, its family, then what lies around it, each with what it is called."""
    here = Q(backend=asked.backend, platform=asked.platform)
    yield "", here & Q(op=asked.op)
    yield "same family", here & Q(family=family_of(asked.op)) & ~Q(op=asked.op)
    kernel = Q(op=asked.op, family=family_of(asked.op), backend=asked.backend)
    if place.arch:
        yield "same architecture", kernel & Q(arch=place.arch)
    if place.vendor:
        yield "same vendor", kernel & Q(vendor=place.vendor)
    yield "other backends", Q(op=asked.op) & ~Q(backend=asked.backend)


Attempt = tuple[float | None, str, float | None, float | None]  # gain, UUID, its interval


def _attempts(judged: Sequence[Ranked]) -> dict[str, list[Attempt]]:
    """Strategy → the attempts of its nearest contexts that hold enough. The strategies differ."""
    nearest: dict[str, list[int]] = {}
    for each in judged:
        keys, tried = nearest.setdefault(each.strategy, []), 0
        for context in each.contexts:
            keys.append(context.key)
            tried += context.tried
            if tried >= ENOUGH:
                break
    by_context: dict[int, list[Attempt]] = {}
    wanted = [key for keys in nearest.values() for key in keys]
    counting = Experience.objects.filter(track__in=wanted, standing=EntryStanding.COUNTS)
    columns = ("track", "gain", "uuid", "gain_low", "gain_high")
    for key, gain, uuid, *ends in counting.values_list(*columns).order_by("pk"):
        by_context.setdefault(key, []).append((gain, str(uuid), *ends))
    return {
        strategy: [one for key in keys for one in by_context.get(key, ())]
        for strategy, keys in nearest.items()
    }


def _hit(judged: Ranked, widened: str, attempts: Sequence[Attempt], notes: StrategyNotes) -> Hit:
    """A strategy with its numbers; the examples are its best attempts, or the worst.

    The worst of all has no gain, for it was wrong.
    """
    strategy, contexts = judged.strategy, judged.contexts
    warning = notes.warning(strategy)
    where = ""
    if contexts:  # in words; what they do not share is left open
        platform = _shared((each.platform for each in contexts), "")
        where = _words(
            _shared((each.op for each in contexts), f"{family_of(contexts[0].op)} kernels"),
            _shared((each.backend for each in contexts), "several backends"),
            platform or _shared((each.arch for each in contexts), "several platforms"),
        )
    shown = sorted(attempts, key=lambda each: -math.inf if each[0] is None else each[0])
    if not judged.avoid:
        shown.reverse()
    measured = ((gain, low, high) for gain, _, low, high in attempts if gain is not None)
    spread = spread_of(measured)
    return Hit(
        strategy=strategy,
        title=notes.titles.get(strategy, strategy),
        score=judged.score,
        scope=f"{widened}: {where}" if widened else where,
        reasons=(*judged.reasons, *([ScoreReason(warning, 0.0)] if warning else [])),
        tried=judged.tried,
        worked=judged.worked,
        gain_median=spread.median,
        gain_low=spread.low,
        gain_high=spread.high,
        recent_failures=judged.recent_failures,
        entries=tuple(uuid for _, uuid, *_ in shown[:EXAMPLES]),
        tracks=tuple(context.key for context in contexts),
        lessons=tuple(str(lesson.uuid) for lesson in notes.lessons.get(strategy, ())),
    )


def _shared(values: Iterator[str], else_: str) -> str:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else else_


def _words(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
