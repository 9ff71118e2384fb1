"""Two rounds side by side: hypothesis, verdict, cases, environment and code; only what differs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from campaigns.reports.comparison import compare_rounds
from campaigns.reports.tables import comparison_table
from campaigns.views.download import csv, wants_csv
from campaigns.views.lookup import campaign_at, round_at


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
