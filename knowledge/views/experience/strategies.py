"""The catalogue of strategies, and the page of one."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.experience.catalogue.listing import (
    CHOICES,
    StrategyFilterError,
    StrategyFilters,
    StrategyRecord,
    Tally,
    record_of,
    strategies_matching,
    tallies,
)
from knowledge.models import Adoption, Lesson, LessonState, Platform, Strategy
from knowledge.views.tables import csv_answer

PER_PAGE = 50
LISTS = ("limits", "vendors", "archs", "ops", "recipes")
COLUMNS = (
    *("id", "kind", "title", "use_when", "what", "verify", "failure", "instead", "backend"),
    *(*LISTS, "tried", "worked", "contexts", "gain", "gain_low", "gain_high"),
)
MOST_PLACES, MOST_LESSONS, MOST_ROUNDS = 50, 10, 20
CONTEXT_COLUMNS = ("platform", "op", "tried", "worked", "contexts", "gain", "gain_low", "gain_high")


@require_safe
def strategies(request: HttpRequest) -> HttpResponse:
    """`?q= &limit= &vendor= &backend= &op= &page= &format=csv`; 400 for what they cannot be."""
    asked, error = StrategyFilters.read(request.GET.dict()), ""
    try:
        found = strategies_matching(asked)
    except StrategyFilterError as refused:
        error, found = str(refused), []
    if request.GET.get("format") == "csv" and not error:
        return _csv(found)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    shown = list(page.object_list)
    totals = tallies(row.slug for row in shown)
    context = {
        "asked": asked,
        "error": error,
        "page": page,
        "rows": [(row, totals.get(row.slug, Tally())) for row in shown],
        "choices": [(name, words, getattr(asked, name)) for name, words in CHOICES.items()],
    }
    status = 400 if error else 200
    return render(request, "knowledge/experience/strategies.html", context, status=status)


def _csv(found: Sequence[Strategy]) -> HttpResponse:
    totals = tallies(row.slug for row in found)
    return csv_answer("strategies", COLUMNS, [_row(r, totals.get(r.slug, Tally())) for r in found])


def _row(row: Strategy, tally: Tally) -> dict[str, object]:
    said = {name: getattr(row, name) for name in COLUMNS[1:9]}
    listed = {name: " ".join(getattr(row, name)) for name in LISTS}
    return {"id": row.slug, **said, **listed, **tally.columns}


@require_safe
def strategy(request: HttpRequest, slug: str) -> HttpResponse:
    """`?format=csv` gives its record by platform and operation."""
    found = get_object_or_404(Strategy, slug=slug)
    record = record_of(found.slug)
    if request.GET.get("format") == "csv":
        return csv_answer(
            found.slug, CONTEXT_COLUMNS, [_context_row(*place) for place in record.places]
        )
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


def _context_row(platform: str, op: str, tally: Tally) -> dict[str, object]:
    return {"platform": platform, "op": op, **tally.columns}
