"""Buttons and small forms of a campaign: one step each, then back to its page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.models import Campaign, CampaignState, IllegalTransition, RestartAnswer, RoundState
from campaigns.records.device_waits import no_worker_told
from campaigns.steps.lifecycle.control import confirm, pause, resume, stop
from campaigns.steps.lifecycle.restart import answer_restart
from campaigns.steps.lifecycle.set_project import set_project
from campaigns.steps.lifecycle.set_target import PlaceholderRefused, allow_placeholder
from campaigns.steps.measuring.standings import AnswerRefused, answer_standing
from campaigns.steps.notify import Next, notify
from campaigns.views.campaign import campaign_page
from campaigns.views.lookup import campaign_at, may_change, round_at
from knowledge.curation.errors import Conflict, CurationError, Forbidden

# Verb → what it does and what is said then; "" where that depends on the campaign.
STEPS: dict[str, tuple[Callable[[Campaign], Next], str]] = {
    "confirm": (confirm, "The campaign is confirmed and starts now."),
    "pause": (pause, ""),
    "resume": (resume, "The campaign goes on."),
    "restart": (
        partial(answer_restart, answer=RestartAnswer.TAKEN),
        "The campaign restarts. Rounds hidden from the proposer are marked.",
    ),
    "decline": (
        partial(answer_restart, answer=RestartAnswer.DECLINED),
        "The restart is declined; the campaign goes on as it was.",
    ),
    "stop": (stop, ""),
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
        messages.success(request, sentence or _going_on(campaign, verb))
        if verb in ("confirm", "resume"):
            warn_of_no_worker(request, campaign)
    return redirect("campaign", campaign.pk)


def _going_on(campaign: Campaign, verb: str) -> str:
    """What happens now, by what the campaign was doing when it was paused or stopped."""
    if verb == "pause":
        is_held = campaign.state == CampaignState.PAUSED
        waits = "Pausing: what is being measured is finished first."
        return "The campaign is paused." if is_held else waits
    if campaign.is_finished:
        nothing = "" if campaign.incumbent_id else " Nothing was measured."
        return f"The campaign is ended.{nothing}"
    if campaign.rounds.exclude(state=RoundState.CLOSED).exists():
        return "Stopping: the open round is finished first, then the report is written."
    return "Stopping: no round is open, so the report is written next."


@may_change
@require_POST
def answer(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """Store it, or say on the page why not."""
    found = round_at(campaign_at(campaign_id), number)
    answer_and_reason = request.POST.get("answer", ""), request.POST.get("why", "")
    try:
        answer_standing(found, *answer_and_reason, by=request.user)
    except (AnswerRefused, Forbidden) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Your answer is stored, with your name.")
    return redirect("round", campaign_id, number)


@require_POST
def placeholder(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Store it, or show the page again with the message at its field and the input kept."""
    found = campaign_at(campaign_id)
    fields = {name: request.POST.get(name, "") for name in ("question", "value", "reason")}
    try:
        allow_placeholder(found, by=request.user, **fields)
    except Forbidden as error:
        raise PermissionDenied(str(error)) from error
    except IllegalTransition as error:
        messages.error(request, str(error))
    except PlaceholderRefused as error:
        form = {**fields, "errors": {error.field: error.message}}
        return campaign_page(request, found, {"placeholder_form": form}, status=422)
    else:
        messages.success(request, "The placeholder is stored, labelled with your name and reason.")
    return redirect("campaign", found.pk)


@require_POST
def project(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Let only the members of `project` see the campaign, or everybody."""
    found = campaign_at(campaign_id)
    try:
        if set_project(found, request.POST.get("project", ""), request.user):
            messages.success(request, "Who sees this campaign is changed, from now on.")
    except Forbidden as error:
        raise PermissionDenied(str(error)) from error
    except (CurationError, Conflict) as error:
        messages.error(request, str(error))
    return redirect("share", found.pk)


def warn_of_no_worker(request: HttpRequest, campaign: Campaign) -> None:
    """Add a warning where no worker can run the campaign yet."""
    if warning := no_worker_told(campaign):
        messages.warning(request, warning)
