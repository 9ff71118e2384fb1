"""One round: the page a reviewer reads from top to bottom, its diff, and its source; and the list
of all rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.serializers import RoundSerializer, WholeRoundSerializer
from campaigns.models import Candidate, Round
from campaigns.records.campaigns import target_of
from campaigns.records.findings import found_lines
from campaigns.reports.diff import Diff, diff, highlighted
from campaigns.reports.rows import some_rows
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.tables import rounds_table
from campaigns.reports.team.listing import ROUND_COLUMNS
from campaigns.trails.exporters.pull_request import round_lines
from campaigns.views.lookup import (
    campaign_at,
    candidate_of,
    download,
    number_in,
    round_at,
    wants_fragment,
)
from campaigns.views.review import review_of
from campaigns.views.round_tabs import OVERVIEW, TABS, neighbours, tab_context
from knowledge.views.formats import list_file, record_file
from knowledge.views.list_views import bar_of

SHOWN_LINES, USUAL_CONTEXT, MOST_CONTEXT = 200, 3, 10_000
RIVALS = ("incumbent", "previous", "baseline")
PER_PAGE = 12
HEAD = (
    "title number verdict reason candidate_us incumbent_us gain.gain gain.low gain.high gain.pairs "
    "standing"
)
SORTS = {
    "number": lambda row: row.number,
    "newest": lambda row: -row.number,
    "gain": lambda row: -row.gain.gain if row.gain else math.inf,
    "time": lambda row: row.time_us or math.inf,
}


@require_safe
def round_(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """`?view=` split or unified, `?ctx=` lines of context, `?w=0` ignores blanks."""
    found = round_at(campaign_at(campaign_id), number)
    name = f"campaign-{campaign_id}-round-{number}"
    lines = partial(_lines, request, found)
    file = record_file(request, name, found, WholeRoundSerializer, lines)
    return file or round_page(request, found)


def _lines(request: HttpRequest, found: Round) -> Iterable[str]:
    """The round in Markdown, for a pull request."""
    campaign = found.campaign
    row = some_rows(campaign, [found.number], target_of(campaign))[found.number]
    return round_lines(row, request.build_absolute_uri)


@require_safe
def round_tab(request: HttpRequest, campaign_id: int, number: int, tab: str) -> HttpResponse:
    """One of `TABS`; the first of them is the round's own address."""
    if tab not in TABS or tab == OVERVIEW:
        raise Http404(f"a round has no tab {tab!r}; accepted: {', '.join([*TABS][1:])}")
    found = round_at(campaign_at(campaign_id), number)
    asked = {name: request.GET.get(name, "") for name in ("against", "q")}
    context = {**asked, **tab_context(found, tab, **asked), **review_of(request, found)}
    if tab == "profile" and request.GET.get("raw") and context["sheet"]:
        name = f"campaign-{campaign_id}-round-{number}-counters.csv"
        return download(context["stored"].text, name, "text/csv")
    return render(request, f"campaigns/round/{tab}.html", context)


def round_page(
    request: HttpRequest, found: Round, said: dict[str, str] | None = None
) -> HttpResponse:
    """said: a repair that was refused, as it was typed, with the error."""
    context = {**tab_context(found, OVERVIEW), "said": said}
    context |= _diff(request, found, context["candidate"], "incumbent")
    context |= review_of(request, found)
    shown: Diff | None = context["diff"]
    if shown and len(shown.rows) > SHOWN_LINES and context["view"] == "unified":
        context |= {"diff_rows": shown.rows[:SHOWN_LINES], "cut": len(shown.rows) - SHOWN_LINES}
    return render(request, "campaigns/round/overview.html", context, status=422 if said else 200)


@require_safe
def round_diff(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """The whole diff; `?against=` incumbent, previous, baseline or a round's number."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    against = request.GET.get("against", "incumbent")
    shown = _diff(request, found, candidate_of(found), against)
    context = {"campaign": campaign, "round": found, "against": against, "rivals": RIVALS}
    context |= review_of(request, found)
    return render(request, "campaigns/diff.html", {**context, **shown, **neighbours(found)})


@require_safe
def round_source(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """A candidate's whole source; `?candidate=` its ordinal, `?raw=1` the file itself."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    ordinal = request.GET.get("candidate", "")
    if ordinal:
        wanted = number_in(ordinal)
        known = found.candidates.filter(ordinal=wanted) if wanted is not None else ()
        candidate = next(iter(known), None)
    else:
        candidate = candidate_of(found)
    if candidate is None:
        raise Http404(f"round {number} has no such candidate")
    if request.GET.get("raw"):
        return _file(candidate)
    context = {
        "campaign": campaign,
        "round": found,
        "candidate": candidate,
        "candidates": found.candidates.all(),
        "findings": found_lines(candidate, campaign),
        "lines": highlighted(candidate.text, candidate.file_name),
    }
    return render(request, "campaigns/source.html", context)


def _diff(
    request: HttpRequest, found: Round, candidate: Candidate | None, against: str
) -> dict[str, Any]:
    rival = _rival(found, against)
    lines = number_in(request.GET.get("ctx", ""))
    context = USUAL_CONTEXT if lines is None else min(lines, MOST_CONTEXT)
    shown: Diff | None = None
    if candidate and rival:
        space = request.GET.get("w", "1") != "0"
        shown = diff(rival.text, candidate.text, candidate.file_name, context=context, space=space)
    view = "split" if request.GET.get("view") == "split" else "unified"
    return {
        "diff": shown,
        "rival": rival,
        "candidate": candidate,
        "view": view,
        "ctx": context,
        "w": request.GET.get("w", "1"),
    }


def _rival(found: Round, against: str) -> Candidate | None:
    """The candidate on the other side of the diff; None where there is none."""
    if against == "incumbent":
        return found.against
    named = {"previous": found.number - 1, "baseline": 1}
    number = named[against] if against in named else number_in(against)
    if number is None:
        raise Http404(f"against: {against!r}; accepted: {', '.join(RIVALS)} or a round's number")
    other = found.campaign.rounds.select_related("chosen").filter(number=number).first()
    return candidate_of(other) if other else None


def _file(candidate: Candidate) -> HttpResponse:
    # Plain text as an attachment: whatever the candidate holds, no browser runs it.
    suffix = candidate.file_name.rpartition(".")[2]
    name = f"round-{candidate.round.number}.{suffix if suffix.isalnum() else 'txt'}"
    return download(candidate.text, name, "text/plain; charset=utf-8")


@require_safe
@vary_on_headers("HX-Request")
def rounds(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """`?verdict=` keeps one verdict, `?sort=` orders, `?page=` counts from 1, `?format=`."""
    bar = bar_of(request, "rounds", ROUND_COLUMNS)
    if isinstance(bar, HttpResponse):
        return bar
    sheet = campaign_sheet(campaign_at(campaign_id), timezone.now())
    wanted = request.GET.get("verdict", "")
    sort = request.GET.get("sort", "number")
    found = [row for row in sheet.rows if wanted in ("", row.word.value)]
    found.sort(key=SORTS.get(sort, SORTS["number"]))
    rows, name = [row.round for row in found], f"campaign-{campaign_id}-rounds"
    table = partial(rounds_table, found)
    if file := list_file(request, name, rows, RoundSerializer, HEAD, table):
        return file
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "bar": bar,
        "sheet": sheet,
        "campaign": sheet.campaign,
        "tab": "rounds",
        "rows": page.object_list,
        "page": page,
        "wanted": wanted,
        "sort": sort,
        "sorts": list(SORTS),
    }
    part = "campaigns/partials/rounds_page.html"
    return render(request, part if wants_fragment(request) else "campaigns/rounds.html", context)
