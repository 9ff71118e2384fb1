"""What the team has learned, at a glance: pictures, numbers, and the export."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.charts import forest, heatmap
from knowledge.charts.frame import TableTwin
from knowledge.experience.attempts.summary import (
    WORKED,
    ChartScope,
    effects_of,
    ledger,
    places_of,
    scope_choices,
    strategy_urls,
    totals,
)
from knowledge.experience.writers.selection import Selection
from knowledge.experience.writers.texts import csv_text, json_text, markdown_text
from knowledge.lookup.listing import FilterError
from knowledge.models import (
    ConflictState,
    Disagreement,
    Gap,
    GapState,
    Lesson,
    LessonState,
    TrackRecord,
)
from knowledge.views.actions import refused
from knowledge.views.tables import csv_answer

SHOWN = 5
SPOKEN = (LessonState.ACTIVE, LessonState.ANTI_PATTERN)


def scope_in(request: HttpRequest) -> ChartScope:
    """What the address asks for: `?op=`, `?backend=`, `?platform=`; PostgreSQL refuses NUL."""
    names = ("op", "backend", "platform")
    return ChartScope(*(request.GET.get(name, "").replace("\0", "").strip() for name in names))


def forest_chart(scope: ChartScope) -> forest.ForestChart | None:
    """Effects by strategy; None where nothing was tried."""
    effects = effects_of(scope)
    urls = strategy_urls(effect.strategy for effect in effects)
    points = [
        forest.ForestPoint(
            name=effect.strategy,
            href=urls[effect.strategy],
            tried=effect.tried,
            worked=effect.worked,
            gain=effect.gain,
        )
        for effect in effects
    ]
    return forest.build(points, f"What helps: {scope.words}")


def heat_chart(scope: ChartScope) -> heatmap.HeatChart | None:
    """Share that worked by platform and operation; a cell leads to its own effects."""
    home = reverse("experience:home")
    points = []
    for place in places_of(scope):
        query = {"op": place.op, "platform": place.platform}
        query |= {"backend": scope.backend} if scope.backend else {}
        href = f"{home}?{urlencode(query)}#forest"
        points.append(heatmap.HeatPoint(place.platform, place.op, place.tried, place.worked, href))
    return heatmap.build(points, "Where attempts work")


@require_safe
def effects_csv(request: HttpRequest) -> HttpResponse:
    """Exactly what the forest plot of this scope draws."""
    chart = forest_chart(scope_in(request))
    return _csv("effects", chart.table if chart else TableTwin(forest.COLUMNS, ()))


@require_safe
def places_csv(request: HttpRequest) -> HttpResponse:
    """Exactly what the heat map draws, and the places that it has no room for."""
    chart = heat_chart(scope_in(request))
    return _csv("places", chart.table if chart else TableTwin(heatmap.COLUMNS, ()))


def _csv(name: str, table: TableTwin) -> HttpResponse:
    return csv_answer(name, table.columns, table.records())


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """`?op=`, `?backend=` and `?platform=` choose what the pictures are of."""
    scope = scope_in(request)
    query = request.GET.urlencode()
    context = {
        "totals": totals(),
        "scope": scope,
        "choices": [
            (name, getattr(scope, name), values) for name, values in scope_choices().items()
        ],
        "forest": forest_chart(scope),
        "forest_csv": f"{reverse('experience:effects_csv')}?{query}",
        "heatmap": heat_chart(scope),
        "heatmap_csv": f"{reverse('experience:places_csv')}?{query}",
        "lessons": Lesson.objects.filter(state__in=SPOKEN)[:SHOWN],
        "waiting": Lesson.objects.filter(state=LessonState.PROPOSED).count(),
        "failures": _failures(),
        "ledgers": [
            ("proposer", ledger("proposer")[:SHOWN]),
            ("strategy", ledger("strategy")[:SHOWN]),
        ],
        "open_gaps": Gap.objects.filter(state=GapState.OPEN).count(),
        "open_conflicts": Disagreement.objects.filter(state=ConflictState.OPEN).count(),
    }
    return render(request, "knowledge/experience/home.html", context)


def _failures() -> list[TrackRecord]:
    """What was tried most and never worked where it was tried."""
    tried = TrackRecord.objects.filter(tried__gt=0).annotate(good=WORKED)
    return list(tried.filter(good=0).order_by("-tried", "-last_at")[:SHOWN])


@require_safe
def export_json(request: HttpRequest) -> HttpResponse:
    """All of it, or of `?op=&backend=&platform=` and what else `Selection` takes."""
    return _file(request, json_text, "json", "application/json")


@require_safe
def export_csv(request: HttpRequest) -> HttpResponse:
    """The attempts of it, a row each."""

    def write(selection: Selection) -> str:
        return csv_text(selection.entries().order_by("pk"))

    return _file(request, write, "csv", "text/csv; charset=utf-8")


@require_safe
def export_md(request: HttpRequest) -> HttpResponse:
    """The same as a page to read."""
    return _file(request, markdown_text, "md", "text/markdown; charset=utf-8")


def _file(
    request: HttpRequest, write: Callable[[Selection], str], ending: str, kind: str
) -> HttpResponse:
    names = Selection.names()
    try:
        selection = Selection(**{name: request.GET.get(name, "") for name in names})
    except FilterError as error:
        return refused(request, error, status=400)
    answer = HttpResponse(write(selection), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="experience.{ending}"'
    return answer
