"""A person answers for a gain that was not reproduced: one small form on the round's page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.steps.measuring.standings import AnswerRefused, answer_standing
from campaigns.views.lookup import campaign_at, may_change, round_at
from knowledge.curation.errors import Forbidden


@may_change
@require_POST
def answer(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """Store it, or say on the page why not."""
    found = round_at(campaign_at(campaign_id), number)
    said = request.POST.get("answer", ""), request.POST.get("why", "")
    try:
        answer_standing(found, *said, by=request.user)
    except (AnswerRefused, Forbidden) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Your answer is stored, with your name.")
    return redirect("round", campaign_id, number)
