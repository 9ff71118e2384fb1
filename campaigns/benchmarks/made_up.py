"""Attempts that nobody made, as skewed as real ones: few operations, chips and ideas do most.

Ranks are drawn by Zipf's law, gains are log-normal around an effect that each strategy has for each
bottleneck, and the texts come from few frequent and many rare words. The same seed gives the same.
"""

from __future__ import annotations

import datetime
import math
import random
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, islice
from typing import Generic, TypeVar

from django.db import connection, transaction

from knowledge.experience.attempts.standing import COLUMNS, RECENT
from knowledge.experience.terms import (
    AttemptLabel,
    Bottleneck,
    family_of,
    idea_key,
    label_of,
    shape_class,
)
from knowledge.experience.wording import spread_of
from knowledge.models import Experience, ExperienceOrigin, TrackRecord
from knowledge.search.index import rebuild

OPS = (
    "matmul", "softmax", "attention", "layernorm", "rmsnorm", "grouped_gemm", "reduction",
    "elementwise", "convolution", "gelu", "cross_entropy", "paged_attention", "rope", "topk",
    "linear", "batched_matmul", "silu", "groupnorm", "argmax", "depthwise_conv",
)  # fmt: skip
DTYPES = ("bfloat16", "float16", "float32", "float8_e4m3fn", "int8")
BACKENDS = {
    "NVIDIA": ("triton", "cuda", "cutedsl", "cpp"),
    "AMD": ("triton", "hip", "flydsl", "cpp"),
}
BOTTLENECKS = (
    "memory_dram", "compute_tensor", "latency", "memory_cache", "occupancy", "unknown", "sync",
    "compute_alu", "launch", "tail", "mixed",
)  # fmt: skip
FREQUENT = """
memory load store tile shared register warp block cache stride vector unroll stage pipeline
spill occupancy stall barrier bank conflict coalesced async copy swizzle prefetch reduction
row column dispatch latency bandwidth throughput tensor core accumulate epilogue fuse split
persistent grid wave tail launch mask boundary alignment hint precision round scale exponent
online recurrence shuffle lane cluster multicast descriptor queue atomic semaphore partition
merge transpose layout padding index predicate branch divergence loop hoist constant
argument compile flag schedule priority wait count counter profile sector request hit miss
evict policy window stream graph replay buffer ring double single depth width height channel
batch head sequence causal page group expert token skew balance quantise dequantise pack
unpack convert saturate overflow underflow tolerance reference baseline incumbent candidate
gain regression neutral noise interval confirmed repeated slower faster unchanged limited
bound because after before with without inside outside first second third every only again
still small large odd even power two four eight sixteen thirty sixty hundred thousand
"""
SIZES = (24, 20, 28, 16, 32, 12)  # log2 of elements
RARE = 20_000  # words, each in a few attempts
FLOOR = 0.01
AT_ONCE = 5_000
BEGUN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MadeUpPlatform:
    slug: str
    arch: str
    vendor: str


@dataclass(frozen=True, slots=True)
class MadeUpContext:
    """What attempts share; see `knowledge.models.TrackRecord`."""

    strategy: str
    op: str
    dtype: str
    backend: str
    platform: str
    arch: str
    vendor: str
    bottleneck: str
    size: int  # log2 of the elements


@dataclass(frozen=True, slots=True)
class MadeUpAttempt:
    """An attempt of a context. gain: None where it was wrong, and not measured."""

    context: MadeUpContext
    key: uuid.UUID
    label: AttemptLabel
    gain: float | None
    low: float | None
    high: float | None
    title: str
    change: str
    notes: str
    precondition: str
    params: dict[str, int]


class Skewed(Generic[T]):
    """Draws of a few things by Zipf's law: the n-th comes with a weight of 1/n^power."""

    def __init__(self, things: Sequence[T], power: float = 1.0) -> None:
        self.things = things
        self.weights = list(accumulate(1 / (n**power) for n in range(1, len(things) + 1)))

    def draw(self, by: random.Random, n: int) -> list[T]:
        return by.choices(self.things, cum_weights=self.weights, k=n)


class Imagination:
    """A made-up team. strategies: (slug, backend), "" for any backend."""

    def __init__(
        self,
        seed: int,
        platforms: Sequence[MadeUpPlatform],
        strategies: Sequence[tuple[str, str]],
    ) -> None:
        self.by = random.Random(seed)
        self.rare = [f"{self.by.getrandbits(40):010x}" for _ in range(RARE)]
        self._platforms = Skewed(platforms)
        self._ops = Skewed(OPS)
        self._dtypes = Skewed(DTYPES, 1.3)
        # Most kernels of one operation are limited by the same thing, and most are of one size.
        self._bottlenecks = {op: Skewed(_shuffled(self.by, BOTTLENECKS), 1.5) for op in OPS}
        self._sizes = {op: Skewed(_shuffled(self.by, SIZES), 1.5) for op in OPS}
        self._words = Skewed(FREQUENT.split(), 0.8)
        self._backends = {vendor: Skewed(names) for vendor, names in BACKENDS.items()}
        self._strategies = {
            name: Skewed(_shuffled(self.by, [s for s, b in strategies if b in ("", name)]))
            for names in BACKENDS.values()
            for name in names
        }

    def attempts(self, n: int) -> Iterator[MadeUpAttempt]:
        """So many attempts, one after another."""
        for first in range(0, n, AT_ONCE):
            many = min(AT_ONCE, n - first)
            words = iter(self._words.draw(self.by, 40 * many))
            for context in self.contexts(many):
                yield self._attempt(context, words)

    def contexts(self, n: int) -> Iterator[MadeUpContext]:
        """So many contexts, the frequent ones more often."""
        drawn = (each.draw(self.by, n) for each in (self._platforms, self._ops, self._dtypes))
        for platform, op, dtype in zip(*drawn, strict=True):
            (bottleneck,) = self._bottlenecks[op].draw(self.by, 1)
            (size,) = self._sizes[op].draw(self.by, 1)
            (backend,) = self._backends[platform.vendor].draw(self.by, 1)
            (strategy,) = self._strategies[backend].draw(self.by, 1)
            yield MadeUpContext(
                strategy, op, dtype, backend, platform.slug, platform.arch, platform.vendor,
                bottleneck, size,
            )  # fmt: skip

    def _attempt(self, context: MadeUpContext, words: Iterator[str]) -> MadeUpAttempt:
        by = self.by
        correct = by.random() > 0.07
        gain = low = high = None
        if correct:
            effect = _effect(context.strategy, context.bottleneck)
            gain = math.exp(by.gauss(effect, 0.06)) - 1
            reach = abs(by.gauss(0.01, 0.01)) + 0.002
            low, high = gain - reach, gain + reach
        label = label_of(gain, correct=correct, faster=bool(low and low > 0), floor=FLOOR)
        rare = f" {by.choice(self.rare)}" if by.random() < 0.3 else ""
        return MadeUpAttempt(
            context=context,
            key=uuid.UUID(int=by.getrandbits(128), version=4),
            label=label,
            gain=gain,
            low=low,
            high=high,
            title=f"{context.strategy} for {context.op}: {_some(words, 3)}",
            change=_some(words, 5),
            notes=_some(words, by.randrange(6, 18)) + rare,
            precondition=_some(words, 4),
            params={"BLOCK": 1 << by.randrange(4, 10), "warps": 1 << by.randrange(4)},
        )


@cache
def _effect(strategy: str, bottleneck: str) -> float:
    """log of the time ratio that a strategy has for a bottleneck on the whole."""
    by = random.Random(f"{strategy} {Bottleneck(bottleneck).group}")
    return by.gauss(0.0, 0.05)


def _shuffled(by: random.Random, things: Sequence[T]) -> list[T]:
    return by.sample(things, len(things))


def _some(words: Iterator[str], n: int) -> str:
    return " ".join(next(words) for _ in range(n))


@dataclass(slots=True)
class _Totals:
    """A context with the labels of its attempts, oldest first, and their gains."""

    track: TrackRecord
    labels: list[AttemptLabel] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)


def fill(attempts: Iterable[MadeUpAttempt]) -> None:
    """Write these attempts and their contexts, and the search index over both."""
    totals: dict[MadeUpContext, _Totals] = {}
    entries = (_entry(number, each, totals) for number, each in enumerate(attempts, 1))
    with transaction.atomic():
        while part := list(islice(entries, AT_ONCE)):
            Experience.objects.bulk_create(part)
        TrackRecord.objects.bulk_create(map(_counted, totals.values()), batch_size=AT_ONCE)
    rebuild()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _entry(number: int, attempt: MadeUpAttempt, totals: dict[MadeUpContext, _Totals]) -> Experience:
    """The attempt as a row, counted in its context."""
    at = BEGUN + datetime.timedelta(seconds=20 * number)
    made_up = attempt.context
    if made_up not in totals:
        totals[made_up] = _Totals(_context(len(totals) + 1, made_up))
    context = totals[made_up]
    context.labels.append(attempt.label)
    context.track.last_at = at
    if attempt.gain is not None:
        context.gains.append(attempt.gain)
    same = ("label", "title", "change", "params", "precondition", "gain", "notes")
    return Experience(
        pk=number,
        uuid=attempt.key,
        track=context.track,
        origin=ExperienceOrigin.IMPORTED,
        pairs=40,
        baseline="the incumbent",
        happened_at=at,
        strategy_name=made_up.strategy,
        params_key=idea_key(made_up.strategy, attempt.params),
        gain_low=attempt.low,
        gain_high=attempt.high,
        **{name: getattr(attempt, name) for name in same},
    )


def _context(key: int, made_up: MadeUpContext) -> TrackRecord:
    same = ("strategy", "op", "dtype", "backend", "platform", "vendor", "arch", "bottleneck")
    return TrackRecord(
        pk=key,
        family=family_of(made_up.op),
        shape_class=shape_class(made_up.size),
        size_log2=made_up.size,
        **{name: getattr(made_up, name) for name in same},
    )


def _counted(totals: _Totals) -> TrackRecord:
    """The context with its totals, as `knowledge.experience.attempts.standing` would count them."""
    track, spread = totals.track, spread_of(totals.gains)
    track.tried, track.gains = len(totals.labels), spread.n
    for label, n in Counter(totals.labels).items():
        setattr(track, COLUMNS[label], n)
    track.recent_failures = sum(not label.worked for label in totals.labels[-RECENT:])
    track.gain_median, track.gain_low, track.gain_high = spread.median, spread.low, spread.high
    return track
