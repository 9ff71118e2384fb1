"""The head of a round's page while it is being judged; with the verdict the page is loaded anew."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from campaigns.models import Evaluation
from campaigns.records.device_waits import no_worker_of
from campaigns.records.target.targets import target_of
from campaigns.reports.rows import some_rows
from campaigns.views.lookup import campaign_at, round_at, wants_fragment


@require_safe
def round_result(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """For htmx alone; the whole page for whoever opens it."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    if not wants_fragment(request):
        return redirect("round", campaign_id, number)
    if hasattr(found, "verdict"):
        return HttpResponse(headers={"HX-Refresh": "true"})
    newest = Evaluation.objects.filter(candidate__round=found).order_by("-pk")
    context = {
        "campaign": campaign,
        "round": found,
        "row": some_rows(campaign, [number], target_of(campaign))[number],
        "no_worker": no_worker_of(campaign),
        "measured": newest.select_related("candidate", "worker").first(),
    }
    return render(request, "campaigns/submit/round_result.html", context)
