"""Pause, resume, restart and stop: one button, one step, back to the campaign."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.models import Campaign, CampaignState, IllegalTransition, RestartAnswer, RoundState
from campaigns.steps.lifecycle.control import confirm, pause, resume, stop
from campaigns.steps.lifecycle.restart import answer_restart
from campaigns.steps.notify import Next, notify
from campaigns.views.lookup import campaign_at, may_change
from campaigns.views.no_worker import warn_of_no_worker

STEPS: dict[str, tuple[Callable[[Campaign], Next], str]] = {
    "confirm": (confirm, "The campaign is confirmed and starts now."),
    "pause": (pause, "The campaign is paused."),
    "resume": (resume, "The campaign goes on."),
    "restart": (
        partial(answer_restart, answer=RestartAnswer.TAKEN),
        "The campaign restarts. Rounds hidden from the proposer are marked.",
    ),
    "decline": (
        partial(answer_restart, answer=RestartAnswer.DECLINED),
        "The restart is declined; the campaign goes on as it was.",
    ),
    "stop": (stop, "Stopping."),
}


@may_change
@require_POST
def control(request: HttpRequest, campaign_id: int, verb: str) -> HttpResponse:
    """Do one of `STEPS`; a campaign that is not in the state for it says so."""
    campaign = campaign_at(campaign_id)
    step, sentence = STEPS[verb]
    try:
        notify(campaign, step(campaign))
    except IllegalTransition as error:
        messages.error(request, str(error))
    else:
        told = {"stop": _stopped, "pause": _paused}.get(verb, lambda _: sentence)
        messages.success(request, told(campaign))
        if verb in ("confirm", "resume"):
            warn_of_no_worker(request, campaign)
    return redirect("campaign", campaign.pk)


def _paused(campaign: Campaign) -> str:
    if campaign.state == CampaignState.PAUSED:
        return "The campaign is paused."
    return "Pausing: what is being measured is finished first."


def _stopped(campaign: Campaign) -> str:
    """What happens now, by what the campaign was doing when it was stopped."""
    if campaign.is_finished:
        nothing = "" if campaign.incumbent_id else " Nothing was measured."
        return f"The campaign is ended.{nothing}"
    if campaign.rounds.exclude(state=RoundState.CLOSED).exists():
        return "Stopping: the open round is finished first, then the report is written."
    return "Stopping: no round is open, so the report is written next."
