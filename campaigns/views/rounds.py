"""All rounds of a campaign, filtered and sorted by what the address says."""

from __future__ import annotations

import math

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from campaigns.reports.sheet import campaign_sheet
from campaigns.views.lookup import campaign_at

SORTS = {
    "number": lambda row: row.number,
    "gain": lambda row: -row.gain.gain if row.gain else math.inf,
    "time": lambda row: row.time_us or math.inf,
}


@require_safe
def rounds(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """`?verdict=` keeps one verdict, `?sort=` is number, gain or time."""
    sheet = campaign_sheet(campaign_at(campaign_id), timezone.now())
    wanted = request.GET.get("verdict", "")
    sort = request.GET.get("sort", "number")
    rows = [row for row in sheet.rows if wanted in ("", row.word.value)]
    rows.sort(key=SORTS.get(sort, SORTS["number"]))
    context = {
        "sheet": sheet,
        "campaign": sheet.campaign,
        "rows": rows,
        "wanted": wanted,
        "sort": sort,
        "sorts": list(SORTS),
    }
    return render(request, "campaigns/rounds.html", context)
