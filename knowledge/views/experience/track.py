"""One strategy in one context: its record, and its attempts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.charts import dots
from knowledge.experience.attempts.summary import strategy_urls
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import gain_words
from knowledge.models import EntryStanding, Experience, Platform, TrackRecord
from knowledge.views.tables import csv_answer

PER_PAGE = 50
COLUMNS = (
    "uuid", "label", "standing", "gain", "gain_low", "gain_high", "pairs", "baseline", "title",
    "params", "compiler", "driver", "campaign", "round", "happened_at",
)  # fmt: skip


@require_safe
def track(request: HttpRequest, pk: int) -> HttpResponse:
    """`?label=` and `?standing=` filter, `?page=` turns, `?format=csv` gives all that pass."""
    found = get_object_or_404(TrackRecord, pk=pk)
    label, standing = _choices(request)
    rows = _attempts(found, label, standing)
    if request.GET.get("format") == "csv":
        return csv_answer(f"experience-{pk}", COLUMNS, _records(rows))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "track": found,
        "strategy_url": strategy_urls([found.strategy])[found.strategy],
        "platform": Platform.objects.filter(slug=found.platform).first(),
        "page": page,
        "label": label,
        "standing": standing,
        "labels": AttemptLabel.choices(),
        "standings": EntryStanding.choices,
        "chart": _chart(found),
        "csv": f"{request.path}?format=csv&standing=counts",
    }
    return render(request, "knowledge/experience/track.html", context)


def _choices(request: HttpRequest) -> tuple[str, str]:
    """Label and standing that are filtered by; "" for all, also where it is none that there is."""
    label, standing = request.GET.get("label", ""), request.GET.get("standing", "")
    return (
        label if label in set(AttemptLabel) else "",
        standing if standing in EntryStanding.values else "",
    )


def _attempts(found: TrackRecord, label: str, standing: str) -> QuerySet[Experience]:
    wanted = {"label": label, "standing": standing}
    filled = {name: value for name, value in wanted.items() if value}
    return found.entries.filter(**filled).order_by("-happened_at", "-pk")


def _records(rows: QuerySet[Experience]) -> Iterator[dict[str, Any]]:
    for row in rows.iterator():
        yield {name: getattr(row, name) for name in COLUMNS}


def _chart(found: TrackRecord) -> dots.DotChart | None:
    """The newest measured attempts that count."""
    counting = found.entries.filter(standing=EntryStanding.COUNTS).exclude(gain=None)
    newest = counting.order_by("-happened_at", "-pk")[: dots.MOST_DOTS]
    points = [
        dots.DotPoint(
            name=f"{row.happened_at:%Y-%m-%d} {row.label}",
            href=reverse("experience:entry", args=[row.uuid]),
            gain=row.gain,
            words=gain_words(row.gain, row.gain_low, row.gain_high),
        )
        for row in newest
        if row.gain is not None
    ]
    return dots.build(points, "Effects of its attempts")
