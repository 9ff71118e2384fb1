"""PURE: how near a context is to a question, how much its record weighs, and the order (R38).

score = fit × evidence × effect × recency

fit, at most 100: 40 the same operation (30: of its family) + 25 the same bottleneck (15: of its
group) + 15 the same backend + 10 the same architecture (5: its generation) + up to 10 for a size
that is near. The cut-off of 50 is on the fit alone.
evidence, at most 1: log1p(n) × the lower Wilson bound (95 %) of the share that worked, over the
same of 20 attempts that all worked: 1 of 1 is 0.06, 5 of 10 is 0.22, 20 of 20 is 1.
effect, 0.75 to 1: 0.75 + log2(1 + gain) / 4, the gain being the mean of the contexts' medians
weighed by their measured attempts, each held within 0 and 1 (twice as fast), so that the cure of a
silly start counts no more than that.
recency, 0.5 to 1: a tenth less for each of the newest attempts that failed in the same context.

A strategy is judged by its contexts together, from the nearest outwards: that many of them are
taken as give the highest score, and the fit of the farthest of these counts for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from knowledge.experience.terms import Bottleneck, family_of

CUT_OFF = 50
SAME_OP, SAME_FAMILY = 40, 30
SAME_BOTTLENECK, SAME_GROUP = 25, 15
SAME_BACKEND = 15
SAME_ARCH, SAME_GENERATION = 10, 5
NEAR_SIZE, FAR_SIZE = 10, 10  # points of the same size; powers of two at which there are none
Z_95 = 1.96
STRONG = 20  # attempts that all worked
SEEN = 5  # newest attempts that recency looks at
SELDOM = 0.25  # a share that works, surely below which is a bad record


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


class ContextRecord(NamedTuple):
    """A context with its record; see `knowledge.models.TrackRecord`."""

    key: int
    strategy: str
    op: str
    dtype: str
    backend: str
    platform: str
    arch: str
    bottleneck: str
    size_log2: float | None
    tried: int
    gains: int
    gain: float | None
    recent_failures: int
    worked: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A strategy with the contexts that it is judged by.

    avoid: its record is bad, and the score tells how surely.
    """

    strategy: str
    score: float
    reasons: tuple[ScoreReason, ...]
    contexts: tuple[ContextRecord, ...]
    tried: int
    worked: int
    recent_failures: int
    avoid: bool


class _Near(NamedTuple):
    context: ContextRecord
    points: tuple[int, ...]
    fit: int
    same: bool


@dataclass(frozen=True, slots=True)
class _Pool:
    """The nearest contexts of a strategy up to some distance; the last is the farthest."""

    near: Sequence[_Near]
    tried: int
    worked: int
    failures: int
    gain: float

    @property
    def fit(self) -> int:
        return self.near[-1].fit

    @property
    def score(self) -> float:
        return self.fit * evidence(self.tried, self.worked) * effect(self.gain) * self.recency

    @property
    def recency(self) -> float:
        return 1 - 0.1 * self.failures


def judge(
    question: Question, contexts: Iterable[ContextRecord]
) -> tuple[list[Ranked], dict[str, int]]:
    """The strategies of these contexts, best first; and the attempts left out, by reason."""
    by_strategy: dict[str, list[_Near]] = {}
    known: dict[tuple[object, ...], tuple[int, ...]] = {}  # contexts that are as near as each other
    own = (question.op, question.bottleneck, question.backend, question.platform)
    unnamed = unlike = 0
    for context in contexts:
        place = (context.op, context.bottleneck, context.backend, context.arch, context.size_log2)
        if (points := known.get(place)) is None:
            points = known[place] = _points(question, context)
        if not context.strategy:
            unnamed += context.tried
        elif (nearness := sum(points)) < CUT_OFF:
            unlike += context.tried
        else:
            # Whether a failure there is one in the context that is asked about.
            same = (context.op, context.bottleneck, context.backend, context.platform) == own
            same = same and question.dtype in ("", context.dtype)
            near = _Near(context, points, nearness, same)
            by_strategy.setdefault(context.strategy, []).append(near)
    judged = [_judged(strategy, near) for strategy, near in by_strategy.items()]

    def place_in_list(ranked: Ranked) -> tuple[float, int, float, str]:
        """Order equal scores by gain: the higher first, and for bad records the lower."""
        gains = [context.gain for context in ranked.contexts if context.gain is not None]
        gain = sum(gains) / len(gains) if gains else 0.0
        return -ranked.score, -ranked.worked, gain if ranked.avoid else -gain, ranked.strategy

    excluded = {"without a strategy": unnamed, "too unlike": unlike}
    return sorted(judged, key=place_in_list), excluded


def fit(question: Question, context: ContextRecord) -> int:
    """The nearness of a context to the question, 0 to 100."""
    return sum(_points(question, context))


def evidence(n: int, worked: int) -> float:
    """The weight of n attempts of which `worked` worked, 0 to 1."""
    strong = math.log1p(STRONG) * wilson(STRONG, STRONG)[0]
    return min(1.0, math.log1p(n) * wilson(n, worked)[0] / strong)


def effect(gain: float) -> float:
    """The weight of a gain, 0.75 to 1."""
    return 0.75 + math.log2(1 + min(max(gain, 0.0), 1.0)) / 4


def plain_arch(arch: str) -> str:
    """A target without the letter that only says for which devices it was compiled: sm_90a."""
    return arch.rstrip("af") if arch.startswith("sm_") else arch


def wilson(n: int, worked: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score; 0 to 1 without an attempt."""
    if not n:
        return 0.0, 1.0
    share, square = worked / n, Z_95 * Z_95
    middle = share + square / (2 * n)
    reach = Z_95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    below = 1 + square / n
    return max(0.0, (middle - reach) / below), min(1.0, (middle + reach) / below)


def _judged(strategy: str, near: list[_Near]) -> Ranked:
    near.sort(key=lambda each: (-each.fit, -each.context.tried, each.context.key))
    pools = list(_pools(near))
    bad = next((pool for pool in pools if wilson(pool.tried, pool.worked)[1] < SELDOM), None)
    if bad is None and not pools[-1].worked:
        bad = pools[-1]
    pool = bad or max(pools, key=lambda pool: (pool.score, pool.fit))
    farthest = pool.near[-1]
    names = (
        f"operation {farthest.context.op}",
        f"bottleneck {Bottleneck(farthest.context.bottleneck).words}",
        f"backend {farthest.context.backend}",
        f"architecture {farthest.context.arch}",
        "a size that is near",
    )
    reasons = [
        ScoreReason(name, points)
        for name, points in zip(names, farthest.points, strict=True)
        if points
    ]
    # What the record takes away from the fit; of a bad one, what is missing for a surely bad one.
    failed = pool.tried - pool.worked
    weights = [
        (f"{pool.worked} of {pool.tried} worked", evidence(pool.tried, pool.worked)),
        (f"usual effect {pool.gain:+.1%}, of at most +100 %", effect(pool.gain)),
        (f"{pool.failures} recent failures in the same context", pool.recency),
    ]
    if bad:
        weights = [(f"{failed} of {pool.tried} showed no gain", evidence(pool.tried, failed))]
    left = float(pool.fit)
    for name, weight in weights:
        points = round(left * (weight - 1), 1)
        left *= weight
        reasons += [ScoreReason(name, points)] if points or bad else []
    return Ranked(
        strategy=strategy,
        score=round(sum(reason.points for reason in reasons), 1),
        reasons=tuple(reasons),
        contexts=tuple(each.context for each in pool.near),
        tried=pool.tried,
        worked=pool.worked,
        recent_failures=pool.failures,
        avoid=bad is not None,
    )


def _pools(near: Sequence[_Near]) -> Iterator[_Pool]:
    """One pool for each fit: all contexts that are at least as near."""
    tried = worked = failures = gains = 0
    total = 0.0
    for at, each in enumerate(near):
        context = each.context
        tried += context.tried
        worked += context.worked
        if each.same:
            failures = min(SEEN, failures + context.recent_failures)
        if context.gain is not None:
            gains += context.gains
            total += context.gains * min(max(context.gain, 0.0), 1.0)
        if at + 1 == len(near) or near[at + 1].fit != each.fit:
            mean = total / gains if gains else 0.0
            yield _Pool(near[: at + 1], tried, worked, failures, mean)


def _points(question: Question, context: ContextRecord) -> tuple[int, ...]:
    same_op = bool(question.op) and context.op == question.op
    family = bool(context.op) and family_of(context.op) == family_of(question.op)
    asked, there = question.size_log2, context.size_log2
    apart = FAR_SIZE if asked is None or there is None else abs(asked - there)
    return (
        SAME_OP if same_op else SAME_FAMILY if family else 0,
        _bottleneck(question.bottleneck, context.bottleneck),
        SAME_BACKEND if context.backend and context.backend == question.backend else 0,
        _arch(question.arch, context.arch),
        round(NEAR_SIZE * max(0.0, 1 - apart / FAR_SIZE)),
    )


@cache
def _bottleneck(asked: str, there: str) -> int:
    first, second = Bottleneck(asked), Bottleneck(there)
    if Bottleneck.UNKNOWN in (first, second):
        return 0
    if first == second:
        return SAME_BOTTLENECK
    return SAME_GROUP if first.group == second.group else 0


@cache
def _arch(asked: str, there: str) -> int:
    """A generation is all but the last sign: sm_86 and sm_89 are of one, gfx942 and gfx950 not."""
    first, second = plain_arch(asked), plain_arch(there)
    if not first or not second:
        return 0
    if first == second:
        return SAME_ARCH
    return SAME_GENERATION if first[:-1] == second[:-1] else 0
