"""What the attempts add up to: by backend, operation, bottleneck and strategy, and predictions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Sum

from knowledge.experience.wording import NONE_MEASURED, GainSpread, OneGain, spread_of
from knowledge.experience.writers.selection import Selection
from knowledge.models import EntryStanding, TrackRecord

TOP = 5
WORKED = ("success", "small", "micro")


@dataclass(slots=True)
class OpStatistics:
    """One operation with one backend. gain: of all attempts that were measured."""

    op: str
    backend: str
    tried: int = 0
    worked: int = 0
    gain: GainSpread = NONE_MEASURED
    best: str = ""


@dataclass(slots=True)
class StrategyStatistics:
    """One strategy; how often it was tried and worked, and how often a prediction held."""

    strategy: str
    tried: int
    worked: int
    predicted: int = 0
    confirmed: int = 0


@dataclass(slots=True)
class Statistics:
    """The whole; labels, backends, bottlenecks, standings: value → attempts.

    predictions: proposer → what became of its predictions → attempts.
    """

    scope: dict[str, str]
    tried: int = 0
    worked: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    backends: dict[str, int] = field(default_factory=dict)
    bottlenecks: dict[str, int] = field(default_factory=dict)
    standings: dict[str, int] = field(default_factory=dict)
    by_op: list[OpStatistics] = field(default_factory=list)
    strategies: list[StrategyStatistics] = field(default_factory=list)
    predictions: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        return self.tried - self.worked


def statistics(selection: Selection | None = None) -> Statistics:
    """Count what counts; standings tells of the others."""
    wanted = selection or Selection()
    entries = wanted.entries()
    counting = entries.filter(standing=EntryStanding.COUNTS)
    found = Statistics(scope=wanted.scope)
    found.standings = dict(_counted(entries, "standing"))
    found.labels = dict(_counted(counting, "label"))
    found.tried = sum(found.labels.values())
    found.backends = {name or "unknown": n for name, n in _counted(counting, "track__backend")}
    found.bottlenecks = dict(_counted(counting, "track__bottleneck"))
    tracks = TrackRecord.objects.filter(tried__gt=0, **wanted.scope)
    if wanted.bottleneck or wanted.outcome:
        tracks = tracks.filter(pk__in=counting.values("track"))
    found.by_op = _by_op(tracks, counting)
    found.worked = sum(n for label, n in found.labels.items() if label in WORKED)
    found.strategies = _strategies(tracks, counting)
    rows = counting.exclude(borne="").order_by().values_list("proposer", "borne")
    for proposer, borne, n in rows.annotate(n=Count("pk")):
        found.predictions.setdefault(proposer or "unknown", {})[borne] = n
    return found


def _counted(rows: Any, name: str) -> list[tuple[str, int]]:
    return list(rows.order_by().values_list(name).annotate(n=Count("pk")).order_by("-n", name))


def _by_op(tracks: Any, counting: Any) -> list[OpStatistics]:
    rows: dict[tuple[str, str], OpStatistics] = {}
    best: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    named = ("op", "backend", "strategy", "tried", "successes", "smalls", "micros")
    for op, backend, strategy, tried, *good in tracks.values_list(*named):
        row = rows.setdefault((op, backend), OpStatistics(op, backend))
        row.tried += tried
        row.worked += sum(good)
        if strategy and sum(good):
            best[op, backend][strategy] += sum(good)
    gains: dict[tuple[str, str], list[OneGain]] = defaultdict(list)
    measured = counting.exclude(gain=None).order_by()
    columns = ("track__op", "track__backend", "gain", "gain_low", "gain_high")
    for op, backend, *gain in measured.values_list(*columns):
        gains[op, backend].append(tuple(gain))
    for key, row in rows.items():
        row.best = best[key].most_common(1)[0][0] if best[key] else ""
        row.gain = spread_of(gains[key])
    return sorted(rows.values(), key=lambda row: (-row.tried, row.op, row.backend))


def _strategies(tracks: Any, counting: Any) -> list[StrategyStatistics]:
    """The strategies that worked most often, without the unknown one."""
    sums = (
        tracks.exclude(strategy="")
        .order_by()
        .values_list("strategy")
        .annotate(n=Sum("tried"), a=Sum("successes"), b=Sum("smalls"), c=Sum("micros"))
    )
    rows = [StrategyStatistics(name, n, sum(good)) for name, n, *good in sums]
    rows.sort(key=lambda row: (-row.worked, row.tried, row.strategy))
    shown = {row.strategy: row for row in rows[:TOP]}
    predicted = counting.filter(track__strategy__in=shown).exclude(borne="").order_by()
    told = predicted.values_list("track__strategy", "borne").annotate(n=Count("pk"))
    for strategy, borne, n in told:
        shown[strategy].predicted += n
        shown[strategy].confirmed += n if borne == "confirmed" else 0
    return list(shown.values())
