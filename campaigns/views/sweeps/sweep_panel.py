"""A sweep's part of its round's page, which asks for itself again while the search goes on."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.models import Campaign, Round
from campaigns.records.sweeps import SweepRecord, is_live, sweep_of
from campaigns.reports.sweeps import sweep_sheet, sweep_version
from campaigns.views.lookup import campaign_at, round_at, wants_fragment


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
