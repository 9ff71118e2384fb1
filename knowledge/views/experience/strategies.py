"""The catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.experience.catalogue.listing import (
    CHOICES,
    StrategyFilterError,
    StrategyFilters,
    Tally,
    strategies_matching,
    tallies,
)
from knowledge.models import Strategy
from knowledge.views.tables import csv_answer

PER_PAGE = 50
LISTS = ("limits", "vendors", "archs", "ops", "recipes")
COLUMNS = (
    *("id", "kind", "title", "use_when", "what", "verify", "failure", "instead", "backend"),
    *(*LISTS, "tried", "worked", "contexts", "gain", "gain_low", "gain_high"),
)


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
