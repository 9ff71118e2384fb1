"""The catalogue of strategies, the page of one, and its record in one context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.api.experience import ExperienceSerializer
from knowledge.charts import dots
from knowledge.experience.attempts.summary import strategy_urls
from knowledge.experience.catalogue.listing import (
    CHOICES,
    StrategyFilters,
    StrategyRecord,
    Tally,
    record_of,
    strategies_matching,
    tallies,
)
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import gain_words
from knowledge.lookup.listing import FilterError
from knowledge.models import (
    Adoption,
    EntryStanding,
    Lesson,
    LessonState,
    Platform,
    Strategy,
    TrackRecord,
)
from knowledge.views.formats import file_asked, file_refusal, list_file, record_file

PER_PAGE = 50
LISTS = ("limits", "vendors", "archs", "ops", "recipes")
TEXTS = ("kind", "title", "use_when", "what", "verify", "failure", "instead", "backend")
HEAD = "id title use_when backend tried worked gain gain_low gain_high"
MOST_PLACES, MOST_LESSONS, MOST_ROUNDS = 50, 10, 20
PLACE = "platform op tried worked contexts gain gain_low gain_high"
ATTEMPT = "title label standing gain gain_low gain_high pairs baseline happened_at"


@require_safe
def strategies(request: HttpRequest) -> HttpResponse:
    """`?q= &limit= &vendor= &backend= &op= &page= &format=`; 400 for what they cannot be."""
    asked, error = StrategyFilters.read(request.GET.dict()), ""
    try:
        found = strategies_matching(asked)
    except FilterError as refused:
        if file_asked(request):
            return file_refusal(request, refused)
        error, found = str(refused), []
    if file := list_file(request, "strategies", lambda: _rows(found), head=HEAD):
        return file
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


def _rows(found: Sequence[Strategy]) -> list[dict[str, Any]]:
    """The strategies with what became of them; lists as words."""
    every = tallies(row.slug for row in found)
    return [
        {"id": row.slug}
        | {name: getattr(row, name) for name in TEXTS}
        | {name: " ".join(getattr(row, name)) for name in LISTS}
        | every.get(row.slug, Tally()).columns
        for row in found
    ]


@require_safe
def strategy(request: HttpRequest, slug: str) -> HttpResponse:
    """`?format=csv` gives its record by platform and operation."""
    found = get_object_or_404(Strategy, slug=slug)
    record = record_of(found.slug)
    if file := _file(request, found, record):
        return file
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


def _file(request: HttpRequest, found: Strategy, seen: StrategyRecord) -> HttpResponse | None:
    """Its record by platform and operation as CSV; all of it as JSON and Markdown."""
    places = [{"platform": name, "op": op, **tally.columns} for name, op, tally in seen.places]
    if file_asked(request) == "csv":
        return list_file(request, found.slug, places, head=PLACE)
    return record_file(request, found.slug, lambda: _rows([found])[0] | {"places": places})


@require_safe
def track(request: HttpRequest, pk: int) -> HttpResponse:
    """`?label=` and `?standing=` filter, `?page=` turns, `?format=` gives all that pass."""
    found = get_object_or_404(TrackRecord, pk=pk)
    # Of a label and a standing that there are not, nothing is filtered.
    label, standing = request.GET.get("label", ""), request.GET.get("standing", "")
    label = label if label in set(AttemptLabel) else ""
    standing = standing if standing in EntryStanding.values else ""
    rows = found.entries.order_by("-happened_at", "-pk")
    rows = rows.filter(label=label) if label else rows
    rows = rows.filter(standing=standing) if standing else rows
    attempts = rows.select_related("track", "merged_into")
    if file := list_file(request, f"experience-{pk}", attempts, ExperienceSerializer, ATTEMPT):
        return file
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
