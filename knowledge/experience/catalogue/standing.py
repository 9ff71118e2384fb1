"""What a strategy has shown: attempts, effects, and how its predictions came true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, TypeAlias

from knowledge.experience.spread import NONE_MEASURED, GainSpread, spread_of
from knowledge.models import Adoption, EntryStanding, Experience, TrackRecord

WORKED = ("successes", "smalls", "micros")
COLUMNS = ("platform", "op", "tried", *WORKED, "gain_median", "recent_failures")
Row: TypeAlias = tuple[Any, ...]  # of COLUMNS
CONFIRMED, UNDECIDED = "confirmed", ("", "undecided")


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
    return StrategyRecord(
        total=_tally(rows),
        places=tuple(places),
        calibration=_calibration(slug),
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
    return Tally(tried, worked, spread_of(row[6] for row in rows if row[6] is not None))


def _calibration(slug: str) -> Calibration:
    made = Experience.objects.filter(
        track__strategy=slug, standing=EntryStanding.COUNTS, expected_gain__gt=0
    )
    rows = list(made.values_list("expected_gain", "gain", "borne"))
    ratios = [gain / expected for expected, gain, _ in rows if expected and gain is not None]
    decided = [borne for _, _, borne in rows if borne not in UNDECIDED]
    return Calibration(
        n=len(ratios),
        ratio=median_low(ratios) if ratios else None,
        confirmed=decided.count(CONFIRMED),
        decided=len(decided),
    )
