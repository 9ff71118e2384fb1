"""What was predicted and what came of it, by proposer or by strategy (R34)."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Literal

from knowledge.models import EntryStanding, Experience

Group = Literal["proposer", "strategy"]
COLUMN: dict[Group, str] = {"proposer": "proposer", "strategy": "track__strategy"}
# The stored words of `Experience.borne`.
CONFIRMED, PARTLY, REFUTED = "confirmed", "partly confirmed", "refuted"
MOST_ROWS = 100_000


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
    made = [_row(name, pairs[name], borne[name]) for name in pairs]
    return sorted(made, key=lambda row: (-row.n, row.name))


def _row(name: str, pairs: list[tuple[float, float | None]], borne: Counter[str]) -> LedgerRow:
    measured = [(predicted, gain) for predicted, gain in pairs if gain is not None]
    n = len(pairs)
    return LedgerRow(
        name=name,
        n=n,
        predicted=statistics.median(p for p, _ in measured) if measured else None,
        measured=statistics.median(g for _, g in measured) if measured else None,
        confirmed=borne[CONFIRMED] / n,
        partly=borne[PARTLY] / n,
        refuted=borne[REFUTED] / n,
    )
