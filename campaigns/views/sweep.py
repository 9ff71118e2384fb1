"""A sweep: the table of every point, and the panel of its round while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.models import Campaign, Round
from campaigns.records.sweeps import (
    FACTS,
    ScreenedPoint,
    SweepRecord,
    case_times_of,
    is_live,
    reasons_of,
    sweep_of,
)
from campaigns.reports.sweeps import (
    AS_IT_IS,
    KNOB,
    coverage_of,
    gain_over_source,
    outcome_counts,
    sweep_sheet,
    sweep_version,
    value_words,
    words_of,
)
from campaigns.reports.tables import sweep_table
from campaigns.views.lookup import campaign_at, number_in, round_at, wants_fragment
from knowledge.views.formats import list_file

if TYPE_CHECKING:
    from pandas import DataFrame

PER_PAGE = 50
Key = Callable[[ScreenedPoint], Any]
# Parameter → its words and the order.
SORTS: dict[str, tuple[str, Key]] = {
    "number": ("order of trying", lambda point: point.number),
    "newest": ("newest first", lambda point: -point.number),
    "time": ("fastest first", lambda point: point.time_us or math.inf),
    "slowest": ("slowest first", lambda point: -(point.time_us or 0.0)),
    "registers": ("most registers", lambda point: -point.facts.get("registers", -1)),
    "build": ("longest build", lambda point: -point.build_s),
}


@require_safe
@vary_on_headers("HX-Request")
def sweep(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """`?outcome=`, `?knob.NAME=VALUE` and `?number=` keep rows, `?sort=` orders, `?page=` counts
    from 1, `?format=`."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    record = sweep_of(found)
    if record is None:
        raise Http404(f"round {number} has no sweep")
    points = _points(record, request.GET)
    name = f"campaign-{campaign_id}-round-{number}-sweep"
    if file := list_file(request, name, as_table=lambda: _table(record, points)):
        return file
    page = Paginator(points, PER_PAGE).get_page(request.GET.get("page"))
    reasons = reasons_of(record, [point.number for point in page.object_list])
    known = {name for point in record.points for name in point.facts}
    facts = {name: words for name, words in FACTS.items() if name in known}
    context = {
        "campaign": campaign,
        "round": found,
        "record": record,
        "coverage": coverage_of(record),
        "page": page,
        "facts": facts.values(),
        "rows": [_row(record, point, reasons, facts) for point in page.object_list],
        **_form(record, request.GET),
        **panel_of(campaign, found, record),
    }
    part = "campaigns/partials/sweep_page.html"
    return render(request, part if wants_fragment(request) else "campaigns/sweep.html", context)


def _table(record: SweepRecord, points: list[ScreenedPoint]) -> DataFrame:
    return sweep_table(record, points, reasons_of(record), case_times_of(record))


def _points(record: SweepRecord, query: QueryDict) -> list[ScreenedPoint]:
    """The points that the address asks for, in its order; what it cannot mean keeps none.

    Ordered by a knob they follow the order of its values.
    """
    points, outcome, number = list(record.points), query.get("outcome"), query.get("number")
    if outcome:
        points = [point for point in points if point.outcome == outcome]
    if number:
        points = [point for point in points if point.number == number_in(number)]
    for knob in record.knobs:
        if value := query.get(KNOB + knob.name):
            points = [p for p in points if value_words(p.params.get(knob.name, "")) == value]
    sort = query.get("sort", "")
    ordering = next((knob for knob in record.knobs if KNOB + knob.name == sort), None)
    if ordering is None:
        return sorted(points, key=SORTS.get(sort, SORTS["number"])[1])
    places = {value: at for at, value in enumerate(ordering.values)}
    name, last = ordering.name, len(places)
    return sorted(points, key=lambda point: places.get(point.params.get(name, ""), last))


def _row(
    record: SweepRecord, point: ScreenedPoint, reasons: dict[int, str], facts: dict[str, str]
) -> dict[str, Any]:
    source = record.source
    gain = gain_over_source(record, point) if point is not source else None
    reason = reasons.get(point.number, "").strip()
    return {
        "point": point,
        "values": [
            (knob.name, value_words(point.params.get(knob.name, "")),
             point.params.get(knob.name) == knob.default)
            for knob in record.knobs
        ],
        "speed": 1 + gain if gain is not None else None,
        "facts": [(words, point.facts.get(name)) for name, words in facts.items()],
        "outcome": words_of(point.outcome),
        "first_line": reason.partition("\n")[0],
        "reason": reason,
        "is_best": point is record.best,
        "is_source": point is source,
    }  # fmt: skip


def _form(record: SweepRecord, query: QueryDict) -> dict[str, Any]:
    """The choices of the filter, with what is chosen."""
    names = [KNOB + knob.name for knob in record.knobs]
    return {
        "outcomes": [(o, words_of(o), count) for o, count in outcome_counts(record)],
        "wanted": query.get("outcome", ""),
        "knobs": [
            (name, knob.name, [value_words(value) for value in knob.values], query.get(name, ""))
            for name, knob in zip(names, record.knobs, strict=True)
        ],
        "sorts": [
            *((value, words) for value, (words, _) in SORTS.items()),
            *((name, knob.name) for name, knob in zip(names, record.knobs, strict=True)),
        ],
        "sort": query.get("sort", "number"),
        "baseline": AS_IT_IS,
        "is_filtered": any(query.get(name) for name in ("outcome", "number", *names)),
    }


@require_safe
@vary_on_headers("HX-Request")
def sweep_panel(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """For htmx alone: the panel, or 204 where nothing has changed since `?since=`.

    The last one, which asks for no other, is read out too.
    """
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    if not wants_fragment(request):
        return redirect(reverse("round", args=[campaign_id, number]) + "#sweep")
    record = sweep_of(found)
    if record is None:
        raise Http404(f"round {number} has no sweep")
    if request.GET.get("since") == sweep_version(record, timezone.now()):
        return HttpResponse(status=204)
    context = {"campaign": campaign, "round": found, **panel_of(campaign, found, record)}
    return render(request, "campaigns/partials/sweep_news.html", context)


def panel_of(campaign: Campaign, round_: Round, record: SweepRecord | None) -> dict[str, Any]:
    """What the panel's template wants; `sweep` is None in a round without one."""
    if record is None:
        return {"sweep": None}
    table = reverse("sweep", args=[campaign.pk, round_.number])
    return {
        "sweep": sweep_sheet(record, timezone.now(), table),
        "sweep_live": is_live(campaign, round_),
    }
