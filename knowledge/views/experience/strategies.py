"""The catalogue of strategies, the page of one, and its record in one context."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.charts import dots
from knowledge.experience.attempts.summary import strategy_urls
from knowledge.experience.catalogue.listing import (
    CHOICES,
    StrategyFilterError,
    StrategyFilters,
    Tally,
    record_of,
    strategies_matching,
    tallies,
)
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import gain_words
from knowledge.models import (
    Adoption,
    EntryStanding,
    Lesson,
    LessonState,
    Platform,
    Strategy,
    TrackRecord,
)
from knowledge.views.tables import csv_answer

PER_PAGE = 50
LISTS = ("limits", "vendors", "archs", "ops", "recipes")
COLUMNS = (
    *("id", "kind", "title", "use_when", "what", "verify", "failure", "instead", "backend"),
    *(*LISTS, "tried", "worked", "contexts", "gain", "gain_low", "gain_high"),
)
MOST_PLACES, MOST_LESSONS, MOST_ROUNDS = 50, 10, 20
CONTEXT_COLUMNS = ("platform", "op", "tried", "worked", "contexts", "gain", "gain_low", "gain_high")
ATTEMPT_COLUMNS = (
    *("uuid", "label", "standing", "gain", "gain_low", "gain_high", "pairs", "baseline", "title"),
    *("params", "compiler", "driver", "campaign", "round", "happened_at"),
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
        every = tallies(row.slug for row in found)
        rows = [_row(row, every.get(row.slug, Tally())) for row in found]
        return csv_answer("strategies", COLUMNS, rows)
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
        rows = [{"platform": name, "op": op, **tally.columns} for name, op, tally in record.places]
        return csv_answer(found.slug, CONTEXT_COLUMNS, rows)
    shown = record.places[:MOST_PLACES]
    platforms = Platform.objects.filter(slug__in=[name for name, _, _ in shown])
    known = {platform.slug: platform for platform in platforms}
    lessons = Lesson.objects.filter(strategy=found.slug)
    used = Adoption.objects.filter(strategy=found.slug)
    context = {
        "strategy": found,
        "wiki": f"{reverse('knowledge:document', args=[found.document])}#L{found.line}",
        "record": record,
        # The platform, or the name of one that the wiki does not know, with operation and tally.
        "places": [(known.get(name), name, op, tally) for name, op, tally in shown],
        "more_places": max(0, len(record.places) - MOST_PLACES),
        "lessons": lessons.exclude(state=LessonState.RETURNED)[:MOST_LESSONS],
        "used": used[:MOST_ROUNDS],
        "more_used": max(0, record.adoptions - MOST_ROUNDS),
    }
    return render(request, "knowledge/experience/strategy.html", context)


@require_safe
def track(request: HttpRequest, pk: int) -> HttpResponse:
    """`?label=` and `?standing=` filter, `?page=` turns, `?format=csv` gives all that pass."""
    found = get_object_or_404(TrackRecord, pk=pk)
    # Of a label and a standing that there are not, nothing is filtered.
    label, standing = request.GET.get("label", ""), request.GET.get("standing", "")
    label = label if label in set(AttemptLabel) else ""
    standing = standing if standing in EntryStanding.values else ""
    rows = found.entries.order_by("-happened_at", "-pk")
    rows = rows.filter(label=label) if label else rows
    rows = rows.filter(standing=standing) if standing else rows
    if request.GET.get("format") == "csv":
        records = (
            {name: getattr(row, name) for name in ATTEMPT_COLUMNS} for row in rows.iterator()
        )
        return csv_answer(f"experience-{pk}", ATTEMPT_COLUMNS, records)
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


def _chart(found: TrackRecord) -> dict[str, Any] | None:
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
    return dots.build(points)
