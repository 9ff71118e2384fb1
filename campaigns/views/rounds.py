"""All rounds of a campaign, filtered, sorted and paged; and two of them side by side."""

from __future__ import annotations

import math

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.reports.comparison import compare_rounds
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.tables import comparison_table, rounds_table
from campaigns.views.lookup import campaign_at, csv, round_at, wants_csv, wants_fragment

PER_PAGE = 50
SORTS = {
    "number": lambda row: row.number,
    "newest": lambda row: -row.number,
    "gain": lambda row: -row.gain.gain if row.gain else math.inf,
    "time": lambda row: row.time_us or math.inf,
}


@require_safe
@vary_on_headers("HX-Request")
def rounds(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """`?verdict=` keeps one verdict, `?sort=` orders, `?page=` counts from 1, `?format=csv`."""
    sheet = campaign_sheet(campaign_at(campaign_id), timezone.now())
    wanted = request.GET.get("verdict", "")
    sort = request.GET.get("sort", "number")
    found = [row for row in sheet.rows if wanted in ("", row.word.value)]
    found.sort(key=SORTS.get(sort, SORTS["number"]))
    if wants_csv(request):
        return csv(rounds_table(found), f"campaign-{campaign_id}-rounds")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "sheet": sheet,
        "campaign": sheet.campaign,
        "rows": page.object_list,
        "page": page,
        "wanted": wanted,
        "sort": sort,
        "sorts": list(SORTS),
    }
    part = "campaigns/partials/rounds_page.html"
    return render(request, part if wants_fragment(request) else "campaigns/rounds.html", context)


@require_safe
def compare(request: HttpRequest, campaign_id: int, first: int, second: int) -> HttpResponse:
    """`?only=all` shows the equal rows too; `?format=csv` is the table of cases."""
    campaign = campaign_at(campaign_id)
    found = compare_rounds(campaign, round_at(campaign, first), round_at(campaign, second))
    if wants_csv(request):
        return csv(comparison_table(found), f"campaign-{campaign.pk}-rounds-{first}-{second}")
    context = {
        "campaign": campaign,
        "comparison": found,
        "only": "all" if request.GET.get("only") == "all" else "diff",
        "swapped": reverse("compare", args=[campaign.pk, second, first]),
    }
    return render(request, "campaigns/compare.html", context)
