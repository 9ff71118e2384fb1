"""The charts over all experience: what helps, and where it works; each with its CSV."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.charts import forest, heatmap
from knowledge.charts.table import TableTwin
from knowledge.experience.attempts.summary import ChartScope, effects_of, places_of, strategy_urls
from knowledge.views.tables import csv_answer


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
