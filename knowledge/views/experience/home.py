"""What the team has learned, at a glance: pictures, numbers, and the export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.charts import forest, heatmap
from knowledge.charts.frame import TableTwin
from knowledge.experience.attempts.summary import (
    COLUMN,
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
from knowledge.lookup.listing import slug_meant
from knowledge.models import (
    ConflictState,
    Disagreement,
    Gap,
    GapState,
    Lesson,
    LessonState,
    TrackRecord,
)
from knowledge.views.formats import file_asked
from knowledge.views.tables import csv_answer

SHOWN = 5
SPOKEN = (LessonState.ACTIVE, LessonState.ANTI_PATTERN)


def scope_in(request: HttpRequest) -> ChartScope:
    """What the address asks for: `?op=`, `?backend=`, `?platform=`; PostgreSQL refuses NUL."""
    names = ("op", "backend", "platform")
    op, backend, platform = (request.GET.get(name, "").replace("\0", "").strip() for name in names)
    return ChartScope(op, backend, slug_meant(platform))


def forest_chart(scope: ChartScope) -> dict[str, Any] | None:
    """Effects by strategy; None where nothing was tried."""
    effects = effects_of(scope)
    urls = strategy_urls(each.strategy for each in effects)
    return forest.build(
        [
            forest.ForestPoint(e.strategy, urls[e.strategy], e.tried, e.worked, e.gain)
            for e in effects
        ]
    )


def heat_chart(scope: ChartScope) -> dict[str, Any] | None:
    """Share that worked by platform and operation; a cell leads to its own effects."""
    home = reverse("experience:home")
    points = []
    for place in places_of(scope):
        query = {"op": place.op, "platform": place.platform}
        query |= {"backend": scope.backend} if scope.backend else {}
        href = f"{home}?{urlencode(query)}#forest"
        points.append(heatmap.HeatPoint(place.platform, place.op, place.tried, place.worked, href))
    return heatmap.build(points)


@require_safe
def chart_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Exactly what the forest plot of this scope or the heat map draws, and what has no room."""
    scope, is_forest = scope_in(request), name == "effects"
    chart = forest_chart(scope) if is_forest else heat_chart(scope)
    empty = TableTwin(forest.COLUMNS if is_forest else heatmap.COLUMNS, ())
    table = chart["table"] if chart else empty
    return csv_answer(name, table.columns, table.records())


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """`?op=`, `?backend=` and `?platform=` choose what is drawn; `?format=` is the export."""
    if file := file_asked(request):
        return export(request, file)
    scope = scope_in(request)
    query = request.GET.urlencode()
    tried = TrackRecord.objects.filter(tried__gt=0).annotate(good=WORKED)
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
        # What was tried most and never worked where it was tried.
        "failures": tried.filter(good=0).order_by("-tried", "-last_at")[:SHOWN],
        "ledgers": [(by, ledger(by)[:SHOWN]) for by in COLUMN],
        "open_gaps": Gap.objects.filter(state=GapState.OPEN).count(),
        "open_conflicts": Disagreement.objects.filter(state=ConflictState.OPEN).count(),
    }
    return render(request, "knowledge/experience/home.html", context)


WRITERS: dict[str, tuple[Callable[[Selection], str], str]] = {
    "json": (json_text, "application/json"),
    "csv": (lambda chosen: csv_text(chosen.entries().order_by("pk")), "text/csv; charset=utf-8"),
    "md": (markdown_text, "text/markdown; charset=utf-8"),
}


@require_safe
def export(request: HttpRequest, ending: str) -> HttpResponse:
    """All of it, or of `?op=&backend=&platform=` and what else `Selection` takes.

    ending: json; csv, the attempts, a row each; or md, the same as a page to read.
    """
    write, kind = WRITERS[ending]
    selection = Selection(**{name: request.GET.get(name, "") for name in Selection.names()})
    answer = HttpResponse(write(selection), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="experience.{ending}"'
    return answer
