"""What the attempts of one context add up to; kept beside them, so that no question counts rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from knowledge.experience.terms import AttemptLabel
from knowledge.models import EntryStanding, Experience, TrackRecord

RECENT = 5
Z_95 = 1.96
COLUMNS = {
    AttemptLabel.SUCCESS: "successes",
    AttemptLabel.SMALL: "smalls",
    AttemptLabel.MICRO: "micros",
    AttemptLabel.TIE: "ties",
    AttemptLabel.REGRESSION: "regressions",
    AttemptLabel.INCORRECT: "incorrects",
}


def refresh(keys: Iterable[int]) -> None:
    """Count these contexts anew from the entries that count."""
    for key in sorted(set(keys)):
        TrackRecord.objects.filter(pk=key).update(**_totals(key))


def _totals(key: int) -> dict[str, Any]:
    entries = Experience.objects.filter(track=key, standing=EntryStanding.COUNTS)
    labels = {column: Count("pk", filter=Q(label=label.value)) for label, column in COLUMNS.items()}
    found: dict[str, Any] = entries.aggregate(
        tried=Count("pk"),
        gains=Count("gain"),
        last_at=Max("happened_at"),
        **labels,
    )
    newest = entries.order_by("-happened_at").values_list("label", flat=True)[:RECENT]
    found["recent_failures"] = sum(not AttemptLabel(label).worked for label in newest)
    return found | _spread(entries, found["gains"])


def _spread(entries: QuerySet[Experience], n: int) -> dict[str, float | None]:
    """The median gain with the order statistics that hold it 95 times of 100; see `bounds`."""
    names = ("gain_median", "gain_low", "gain_high")
    if not n:
        return dict.fromkeys(names)
    ranked = entries.exclude(gain=None).order_by("gain").values_list("gain", flat=True)
    low, high = bounds(n)
    return dict(zip(names, (ranked[(n - 1) // 2], ranked[low], ranked[high]), strict=True))


def bounds(n: int) -> tuple[int, int]:
    """The ranks, from 0, of the 95 % interval of a median of n values.

    By the binomial's normal approximation; below six values it is the whole range, which holds the
    median less often than that.
    """
    if n < 6:
        return 0, n - 1
    reach = Z_95 * math.sqrt(n) / 2
    return max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach) - 1)
