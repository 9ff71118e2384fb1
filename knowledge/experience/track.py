"""What the attempts of one context add up to; kept beside them, so that no question counts rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from knowledge.experience.spread import ranks
from knowledge.experience.terms import AttemptLabel
from knowledge.models import EntryStanding, Experience, TrackRecord

RECENT = 5
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
    """As `spread_of`, but the database sorts."""
    names = ("gain_median", "gain_low", "gain_high")
    if not n:
        return dict.fromkeys(names)
    ranked = entries.exclude(gain=None).order_by("gain").values_list("gain", flat=True)
    wanted = ranks(n) if n > 1 else (0,)
    return dict(itertools.zip_longest(names, [ranked[rank] for rank in wanted]))
