"""One strategy: what it says to do, and what it has shown."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.experience.catalogue.listing import StrategyRecord, Tally, record_of
from knowledge.models import Adoption, Lesson, LessonState, Platform, Strategy
from knowledge.views.tables import csv_answer

MOST_PLACES, MOST_LESSONS, MOST_ROUNDS = 50, 10, 20
COLUMNS = ("platform", "op", "tried", "worked", "contexts", "gain", "gain_low", "gain_high")


@require_safe
def strategy(request: HttpRequest, slug: str) -> HttpResponse:
    """`?format=csv` gives its record by platform and operation."""
    found = get_object_or_404(Strategy, slug=slug)
    record = record_of(found.slug)
    if request.GET.get("format") == "csv":
        return csv_answer(found.slug, COLUMNS, [_row(*place) for place in record.places])
    lessons = Lesson.objects.filter(strategy=found.slug)
    used = Adoption.objects.filter(strategy=found.slug)
    context = {
        "strategy": found,
        "wiki": f"{reverse('knowledge:document', args=[found.document])}#L{found.line}",
        "record": record,
        "places": _places(record),
        "more_places": max(0, len(record.places) - MOST_PLACES),
        "lessons": lessons.exclude(state=LessonState.RETURNED)[:MOST_LESSONS],
        "used": used[:MOST_ROUNDS],
        "more_used": max(0, record.adoptions - MOST_ROUNDS),
    }
    return render(request, "knowledge/experience/strategy.html", context)


def _places(record: StrategyRecord) -> list[tuple[str, str, str, Tally]]:
    """The name and page of a platform, the operation, the tally and its effect in words."""
    shown = record.places[:MOST_PLACES]
    known = {
        row.slug: row
        for row in Platform.objects.filter(slug__in=[platform for platform, _, _ in shown])
    }
    return [
        (
            known[platform].name if platform in known else platform or "not known",
            known[platform].get_absolute_url() if platform in known else "",
            op or "not known",
            tally,
        )
        for platform, op, tally in shown
    ]


def _row(platform: str, op: str, tally: Tally) -> dict[str, object]:
    return {"platform": platform, "op": op, **tally.columns}
