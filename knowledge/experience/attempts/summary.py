"""What attempts add up to: by context and strategy, for the installation, and predictions (R34)."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, F, Q, QuerySet, Sum
from django.urls import reverse
from django.utils.http import urlencode

from knowledge.experience.wording import NONE_MEASURED, GainSpread, OneGain, spread_of
from knowledge.models import EntryStanding, Experience, Strategy, TrackRecord

MOST_STRATEGIES = 15
# The newest of a scope: their medians take a quarter of a second to look up and to sort.
MOST_GAINS = 20_000
WORKED = F("successes") + F("smalls") + F("micros")
# The stored words of `Experience.borne`.
CONFIRMED, PARTLY, REFUTED = "confirmed", "partly confirmed", "refuted"
MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class ChartScope:
    """Which attempts a picture is of; "" is any."""

    op: str = ""
    backend: str = ""
    platform: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields that are set."""
        named = {"op": self.op, "backend": self.backend, "platform": self.platform}
        return {name: value for name, value in named.items() if value}

    @property
    def words(self) -> str:
        """For a heading: "matmul with triton on h200"."""
        first = self.op or "all operations"
        with_ = f" with {self.backend}" if self.backend else ""
        return f"{first}{with_}{f' on {self.platform}' if self.platform else ''}"

    def tracks(self) -> QuerySet[TrackRecord]:
        return TrackRecord.objects.filter(tried__gt=0, **self.fields)


@dataclass(frozen=True, slots=True)
class ExperienceTotals:
    """Totals over all attempts that count."""

    attempts: int
    worked: int
    strategies: int

    @property
    def share(self) -> float:
        return self.worked / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True)
class StrategyEffect:
    """One strategy within a scope."""

    strategy: str
    tried: int
    worked: int
    gain: GainSpread = NONE_MEASURED


@dataclass(frozen=True, slots=True)
class PlaceShare:
    """The attempts of one operation on one platform."""

    platform: str
    op: str
    tried: int
    worked: int


def totals() -> ExperienceTotals:
    """What there is; three numbers in one query."""
    found = TrackRecord.objects.filter(tried__gt=0).aggregate(
        attempts=Sum("tried"), good=Sum(WORKED), strategies=Count("strategy", distinct=True)
    )
    return ExperienceTotals(found["attempts"] or 0, found["good"] or 0, found["strategies"])


def effects_of(scope: ChartScope, limit: int = MOST_STRATEGIES) -> list[StrategyEffect]:
    """The strategies of a scope that were tried most, each over all of its contexts there."""
    tracks = scope.tracks().order_by().values_list("strategy")
    sums = tracks.annotate(n=Sum("tried"), good=Sum(WORKED)).order_by("-n", "strategy")
    counts = list(sums[:limit])
    wanted = {f"track__{name}": value for name, value in scope.fields.items()}
    counting = Experience.objects.filter(standing=EntryStanding.COUNTS, **wanted)
    measured = counting.filter(track__strategy__in=[row[0] for row in counts]).exclude(gain=None)
    gains: dict[str, list[OneGain]] = defaultdict(list)
    told = ("track__strategy", "gain", "gain_low", "gain_high")
    for strategy, *gain in measured.order_by("-pk").values_list(*told)[:MOST_GAINS]:
        gains[strategy].append(tuple(gain))
    return [
        StrategyEffect(strategy, tried, worked, spread_of(gains.get(strategy, [])))
        for strategy, tried, worked in counts
    ]


def places_of(scope: ChartScope) -> list[PlaceShare]:
    """Share of attempts that worked by platform and operation; the scope's own are ignored."""
    tracks = ChartScope(backend=scope.backend).tracks().exclude(Q(platform="") | Q(op=""))
    rows = (
        tracks.order_by()
        .values_list("platform", "op")
        .annotate(n=Sum("tried"), good=Sum(WORKED))
        .order_by("platform", "op")
    )
    return [PlaceShare(*row) for row in rows]


def scope_choices() -> dict[str, list[str]]:
    """Field → the values that have attempts, for the selects of a page."""
    tracks = TrackRecord.objects.filter(tried__gt=0).order_by()
    return {
        name: sorted(filter(None, tracks.values_list(name, flat=True).distinct()))
        for name in ("op", "backend", "platform")
    }


def strategy_urls(names: Iterable[str]) -> dict[str, str]:
    """Name → the page of the strategy, or the search for one that the catalogue does not hold."""
    wanted = set(names)
    known = set(Strategy.objects.filter(slug__in=wanted).values_list("slug", flat=True))
    return {
        name: reverse("experience:strategy", args=[name])
        if name in known
        else f"{reverse('search')}?{urlencode({'q': name})}"
        for name in wanted
    }


Group = Literal["proposer", "strategy"]
COLUMN: dict[Group, str] = {"proposer": "proposer", "strategy": "track__strategy"}


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The predictions of one proposer, or about one strategy.

    n: attempts with a prediction. predicted, measured: medians over those that were measured, 0.05
    is 5 % faster; None without any. confirmed, partly, refuted: shares of n; the rest is undecided.
    ratio: measured over predicted; 1 is well calibrated, 0.5 promises twice of what it keeps.
    """

    name: str
    n: int
    predicted: float | None
    measured: float | None
    confirmed: float
    partly: float
    refuted: float

    @property
    def ratio(self) -> float | None:
        if self.measured is None or not self.predicted:
            return None
        return self.measured / self.predicted


def ledger(by: Group = "proposer") -> list[LedgerRow]:
    """One row each, most predictions first; of the newest entries that count. One query."""
    rows = Experience.objects.filter(standing=EntryStanding.COUNTS, expected_gain__isnull=False)
    found = rows.order_by("-pk").values_list(COLUMN[by], "expected_gain", "gain", "borne")
    pairs: dict[str, list[tuple[float, float | None]]] = defaultdict(list)
    borne: dict[str, Counter[str]] = defaultdict(Counter)
    for name, predicted, gain, came_to in found[:MOST_ROWS].iterator():
        pairs[name].append((predicted, gain))
        borne[name][came_to] += 1
    made = []
    for name, own in pairs.items():
        measured = [(predicted, gain) for predicted, gain in own if gain is not None]
        row = LedgerRow(
            name=name,
            n=len(own),
            predicted=statistics.median(p for p, _ in measured) if measured else None,
            measured=statistics.median(g for _, g in measured) if measured else None,
            confirmed=borne[name][CONFIRMED] / len(own),
            partly=borne[name][PARTLY] / len(own),
            refuted=borne[name][REFUTED] / len(own),
        )
        made.append(row)
    return sorted(made, key=lambda row: (-row.n, row.name))
