"""What became of a candidate that was handed in; once it has a round, that round."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.reports.diff import diff
from campaigns.reports.proposers import submission_sheet
from campaigns.views.lookup import campaign_at, wants_fragment


@require_safe
@vary_on_headers("HX-Request")
def submission(request: HttpRequest, campaign_id: int, key: int) -> HttpResponse:
    """The page while it waits, else a redirect to its round; for htmx the place in the queue."""
    campaign = campaign_at(campaign_id)
    found = get_object_or_404(
        campaign.submissions.select_related("against__round", "campaign"), pk=key
    )
    sheet, live = submission_sheet(found), wants_fragment(request)
    if sheet.round is not None:
        if not live:
            return redirect("round", campaign_id, sheet.round.number)
        target = reverse("round", args=[campaign_id, sheet.round.number])
        return HttpResponse(headers={"HX-Redirect": target})
    context = {"campaign": campaign, "sheet": sheet, "submission": found}
    if live:
        return render(request, "campaigns/submit/place.html", context)
    context["diff"] = diff(found.against.text, found.text, found.file_name, context=3, space=True)
    return render(request, "campaigns/submit/submission.html", context)
