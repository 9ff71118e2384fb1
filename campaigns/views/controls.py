"""Pause, resume, restart and stop: one button, one step, back to the campaign."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.bell import Next, ring
from campaigns.models import Campaign, IllegalTransition, RoundState
from campaigns.steps.confirm import confirm
from campaigns.steps.pause import pause
from campaigns.steps.restart import decline_restart, take_restart
from campaigns.steps.resume import resume
from campaigns.steps.stop import stop
from campaigns.views.lookup import campaign_at, may_change
from campaigns.views.no_worker import warn_of_no_worker

STEPS: dict[str, tuple[Callable[[Campaign], Next], str]] = {
    "confirm": (confirm, "The campaign is confirmed and starts now."),
    "pause": (pause, "Pausing: what is being measured is finished first."),
    "resume": (resume, "The campaign goes on."),
    "restart": (take_restart, "The campaign restarts. Rounds hidden from the proposer are marked."),
    "decline": (decline_restart, "The restart is declined; the campaign goes on as it was."),
    "stop": (stop, "Stopping."),
}


@may_change
@require_POST
def control(request: HttpRequest, campaign_id: int, verb: str) -> HttpResponse:
    """Do one of `STEPS`; a campaign that is not in the state for it says so."""
    campaign = campaign_at(campaign_id)
    step, sentence = STEPS[verb]
    try:
        ring(campaign, step(campaign))
    except IllegalTransition as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _stopped(campaign) if verb == "stop" else sentence)
        if verb in ("confirm", "resume"):
            warn_of_no_worker(request, campaign)
    return redirect("campaign", campaign.pk)


def _stopped(campaign: Campaign) -> str:
    """What happens now, by what the campaign was doing when it was stopped."""
    if campaign.is_finished:
        return "The draft is ended. Nothing was measured."
    if campaign.rounds.exclude(state=RoundState.CLOSED).exists():
        return "Stopping: the open round is finished first, then the report is written."
    return "Stopping: no round is open, so the report is written next."
