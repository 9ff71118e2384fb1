"""Attempts that nobody made, as skewed as real ones: few operations, chips and ideas do most.

Ranks are drawn by Zipf's law, gains are log-normal around an effect that each strategy has for each
bottleneck, and the texts come from few frequent and many rare words. The same seed gives the same.
"""

from __future__ import annotations

import datetime
import math
import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, islice
from typing import Any, NamedTuple, TypeVar

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
from knowledge.experience.wording import OneGain, spread_of
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


class MadeUpContext(NamedTuple):
    """What attempts share; see `knowledge.models.TrackRecord`. size_log2: of the elements."""

    strategy: str
    op: str
    dtype: str
    backend: str
    platform: str
    arch: str
    vendor: str
    bottleneck: str
    size_log2: int


# A context, and the fields of an `Experience` in it.
MadeUpAttempt = tuple[MadeUpContext, dict[str, Any]]


def skewed(by: random.Random, things: Sequence[T], n: int, power: float = 1.0) -> list[T]:
    """So many draws by Zipf's law: the k-th thing comes with a weight of 1/k^power."""
    return by.choices(things, cum_weights=_weights(len(things), power), k=n)


@cache
def _weights(n: int, power: float) -> list[float]:
    return list(accumulate(1 / (k**power) for k in range(1, n + 1)))


class Imagination:
    """A made-up team. platforms: (slug, architecture, vendor).

    strategies: (slug, backend), "" for any backend.
    """

    def __init__(
        self,
        seed: int,
        platforms: Sequence[tuple[str, str, str]],
        strategies: Sequence[tuple[str, str]],
    ) -> None:
        self.by = by = random.Random(seed)
        self.rare = [f"{by.getrandbits(40):010x}" for _ in range(RARE)]
        self._platforms = platforms
        # Most kernels of one operation are limited by the same thing, and most are of one size.
        self._bottlenecks = {op: by.sample(BOTTLENECKS, len(BOTTLENECKS)) for op in OPS}
        self._sizes = {op: by.sample(SIZES, len(SIZES)) for op in OPS}
        self._strategies = {}
        for name in (name for names in BACKENDS.values() for name in names):
            usable = [slug for slug, backend in strategies if backend in ("", name)]
            self._strategies[name] = by.sample(usable, len(usable))

    def attempts(self, n: int) -> Iterator[MadeUpAttempt]:
        """So many attempts, one after another."""
        for first in range(0, n, AT_ONCE):
            many = min(AT_ONCE, n - first)
            words = iter(skewed(self.by, FREQUENT.split(), 40 * many, 0.8))
            for context in self.contexts(many):
                yield context, self._attempt(context, words)

    def contexts(self, n: int) -> Iterator[MadeUpContext]:
        """So many contexts, the frequent ones more often."""
        by = self.by
        platforms, ops = skewed(by, self._platforms, n), skewed(by, OPS, n)
        dtypes = skewed(by, DTYPES, n, 1.3)
        for (slug, arch, vendor), op, dtype in zip(platforms, ops, dtypes, strict=True):
            (bottleneck,) = skewed(by, self._bottlenecks[op], 1, 1.5)
            (size_log2,) = skewed(by, self._sizes[op], 1, 1.5)
            (backend,) = skewed(by, BACKENDS[vendor], 1)
            (strategy,) = skewed(by, self._strategies[backend], 1)
            yield MadeUpContext(
                strategy, op, dtype, backend, slug, arch, vendor, bottleneck, size_log2
            )

    def _attempt(self, context: MadeUpContext, words: Iterator[str]) -> dict[str, Any]:
        """A wrong one was not measured, so it has no gain."""

        def some(n: int) -> str:
            return " ".join(islice(words, n))

        by = self.by
        correct = by.random() > 0.07
        gain = low = high = None
        if correct:
            gain = math.exp(by.gauss(_effect(context.strategy, context.bottleneck), 0.06)) - 1
            reach = abs(by.gauss(0.01, 0.01)) + 0.002
            low, high = gain - reach, gain + reach
        rare = f" {by.choice(self.rare)}" if by.random() < 0.3 else ""
        return {
            "label": label_of(gain, correct=correct, faster=bool(low and low > 0), floor=FLOOR),
            "uuid": uuid.UUID(int=by.getrandbits(128), version=4),
            "gain": gain,
            "gain_low": low,
            "gain_high": high,
            "title": f"{context.strategy} for {context.op}: {some(3)}",
            "change": some(5),
            "notes": some(by.randrange(6, 18)) + rare,
            "precondition": some(4),
            "params": {"BLOCK": 1 << by.randrange(4, 10), "warps": 1 << by.randrange(4)},
        }


@cache
def _effect(strategy: str, bottleneck: str) -> float:
    """log of the time ratio that a strategy has for a bottleneck on the whole."""
    return random.Random(f"{strategy} {Bottleneck(bottleneck).group}").gauss(0.0, 0.05)


def fill(attempts: Iterable[MadeUpAttempt]) -> None:
    """Write these attempts and their contexts, and the search index over both.

    Contexts have the totals that `knowledge.experience.attempts.standing` would count.
    """
    contexts: dict[MadeUpContext, TrackRecord] = {}
    labels: defaultdict[int, list[AttemptLabel]] = defaultdict(list)
    gains: defaultdict[int, list[OneGain]] = defaultdict(list)

    def rows() -> Iterator[Experience]:
        for number, (context, fields) in enumerate(attempts, 1):
            if context not in contexts:
                contexts[context] = TrackRecord(
                    pk=len(contexts) + 1,
                    family=family_of(context.op),
                    shape_class=shape_class(context.size_log2),
                    **context._asdict(),
                )
            track = contexts[context]
            track.last_at = BEGUN + datetime.timedelta(seconds=20 * number)
            labels[track.pk].append(fields["label"])
            if fields["gain"] is not None:
                gains[track.pk].append(tuple(fields[f"gain{end}"] for end in ("", "_low", "_high")))
            yield Experience(
                pk=number,
                track=track,
                origin=ExperienceOrigin.IMPORTED,
                pairs=40,
                baseline="the incumbent",
                happened_at=track.last_at,
                strategy_name=context.strategy,
                params_key=idea_key(context.strategy, fields["params"]),
                **fields,
            )

    entries = rows()
    with transaction.atomic():
        while part := list(islice(entries, AT_ONCE)):
            Experience.objects.bulk_create(part)
        for track in contexts.values():
            found, spread = labels[track.pk], spread_of(gains[track.pk])
            track.tried, track.gains = len(found), spread.n
            for label, n in Counter(found).items():
                setattr(track, COLUMNS[label], n)
            track.recent_failures = sum(not label.worked for label in found[-RECENT:])
            track.gain_median, track.gain_low, track.gain_high = (
                spread.median, spread.low, spread.high,
            )  # fmt: skip
        TrackRecord.objects.bulk_create(contexts.values(), batch_size=AT_ONCE)
    rebuild()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
