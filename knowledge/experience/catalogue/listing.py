"""The catalogue as its pages list it, and what experience says of each strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, TypeAlias

from knowledge.experience.catalogue.applies import BACKENDS, LIMITS, OPS, VENDORS, applies
from knowledge.experience.wording import NONE_MEASURED, GainSpread, spread_of
from knowledge.lookup.listing import FilterError
from knowledge.models import Adoption, EntryStanding, Experience, Strategy, TrackRecord
from knowledge.search.tokens import words_of

CHOICES = {"limit": LIMITS, "vendor": VENDORS, "backend": BACKENDS, "op": tuple(sorted(OPS))}
WORKED = ("successes", "smalls", "micros")
SPREAD = ("gain_median", "gain_low", "gain_high")
COLUMNS = ("platform", "op", "tried", *WORKED, *SPREAD, "recent_failures")
CONFIRMED, UNDECIDED = "confirmed", ("", "undecided")


@dataclass(frozen=True, slots=True)
class StrategyFilters:
    """What is asked; "" is any. q: words that all have to stand in the row or its other names."""

    q: str = ""
    limit: str = ""
    vendor: str = ""
    backend: str = ""
    op: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> StrategyFilters:
        # PostgreSQL refuses NUL in any text.
        typed = {name: str(given.get(name, "")).replace("\0", "").strip() for name in cls.__slots__}
        return cls(**typed)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


def strategies_matching(asked: StrategyFilters) -> list[Strategy]:
    """The strategies that fit the filters, by their ids. Raises FilterError."""
    for name, accepted in CHOICES.items():
        value = getattr(asked, name)
        if value and value not in accepted:
            refusal = f"'{value[:60]}'; accepted: {', '.join(accepted)}, or nothing for any"
            raise FilterError(name, refusal)
    words = set(words_of(asked.q))
    scope = {"backend": asked.backend, "op": asked.op, "vendor": asked.vendor}
    found = []
    for row in Strategy.objects.filter(withdrawn=False):
        said = (row.slug, row.title, row.use_when, row.what, row.verify, row.failure, row.instead)
        lists = (*row.aliases, *row.limits, *row.vendors, *row.archs, *row.ops, row.backend)
        if words <= set(words_of(" ".join((*said, *lists)))):
            found += [row] if applies(row, **scope, bottleneck=asked.limit) else []
    return found


Row: TypeAlias = tuple[Any, ...]  # of COLUMNS


@dataclass(frozen=True, slots=True)
class Tally:
    """Attempts added up. gain: over the medians of the contexts with a measured gain."""

    tried: int = 0
    worked: int = 0
    gain: GainSpread = NONE_MEASURED

    @property
    def columns(self) -> dict[str, int | float | None]:
        """The same as a table of data has it."""
        return {
            "tried": self.tried,
            "worked": self.worked,
            "contexts": self.gain.n,
            "gain": self.gain.median,
            "gain_low": self.gain.low,
            "gain_high": self.gain.high,
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predictions against gains. ratio: the median of measured over predicted gain.

    n: attempts with both. decided: predictions of which the measurement said yes or no.
    """

    n: int = 0
    ratio: float | None = None
    confirmed: int = 0
    decided: int = 0


@dataclass(frozen=True, slots=True)
class StrategyRecord:
    """The record of one strategy. places: (platform, op, tally), most attempts first."""

    total: Tally
    places: tuple[tuple[str, str, Tally], ...]
    calibration: Calibration
    adoptions: int


def record_of(slug: str) -> StrategyRecord:
    """Three queries, however many attempts there are."""
    rows = list(TrackRecord.objects.filter(strategy=slug, tried__gt=0).values_list(*COLUMNS))
    by_place: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_place.setdefault((row[0], row[1]), []).append(row)
    places = [(platform, op, _tally(some)) for (platform, op), some in by_place.items()]
    places.sort(key=lambda place: (-place[2].tried, place[0], place[1]))
    made = Experience.objects.filter(
        track__strategy=slug, standing=EntryStanding.COUNTS, expected_gain__gt=0
    )
    told = list(made.values_list("expected_gain", "gain", "borne"))
    ratios = [gain / expected for expected, gain, _ in told if expected and gain is not None]
    decided = [borne for _, _, borne in told if borne not in UNDECIDED]
    return StrategyRecord(
        total=_tally(rows),
        places=tuple(places),
        calibration=Calibration(
            n=len(ratios),
            ratio=median_low(ratios) if ratios else None,
            confirmed=decided.count(CONFIRMED),
            decided=len(decided),
        ),
        adoptions=Adoption.objects.filter(strategy=slug).count(),
    )


def tallies(slugs: Iterable[str]) -> dict[str, Tally]:
    """The totals of these strategies, of those that were tried; one query."""
    rows = TrackRecord.objects.filter(strategy__in=list(slugs), tried__gt=0)
    found: dict[str, list[Row]] = {}
    for slug, *row in rows.values_list("strategy", *COLUMNS):
        found.setdefault(slug, []).append(tuple(row))
    return {slug: _tally(some) for slug, some in found.items()}


def _tally(rows: Sequence[Row]) -> Tally:
    tried, worked = sum(row[2] for row in rows), sum(sum(row[3:6]) for row in rows)
    return Tally(tried, worked, spread_of(row[6:9] for row in rows if row[6] is not None))
