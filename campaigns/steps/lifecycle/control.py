"""What a person asks of a campaign: confirm, pause, resume, stop; archive and bring back."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.models import (
    AbortReason,
    ArchivedCampaign,
    Campaign,
    CampaignState,
    Evaluation,
    IllegalTransition,
)
from campaigns.models.event import record
from campaigns.models.transitions import FINISHED, PAUSABLE, claim, move
from campaigns.records.device_waits import is_held
from campaigns.records.target.ceilings import unknown_target
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.finish import abort, call_off
from campaigns.steps.measuring.results import release_vanished
from campaigns.steps.measuring.waits import ask_to_pause
from campaigns.steps.notify import AGAIN, NOTHING, Next


class TargetUnknown(IllegalTransition):
    """A draft whose target rests on a value that is UNKNOWN or stale; what to do about it."""


def confirm(campaign: Campaign) -> Next:
    """Release a draft. Confirming twice does nothing more.

    Raises TargetUnknown where the wiki lacks a ceiling and no person has allowed a placeholder.
    """
    if campaign.state == CampaignState.CONFIRMED:
        return NOTHING
    if campaign.state == CampaignState.DRAFT and (why := unknown_target(campaign)):
        raise TargetUnknown(why)
    with transaction.atomic():
        if not move(campaign, CampaignState.CONFIRMED):
            return NOTHING
        record(campaign, "confirmed", "confirmed; goal, cases and protocol are frozen")
    return AGAIN


def pause(campaign: Campaign) -> Next:
    """Pause at once where no worker is at it, else between two evaluations (`advance`).

    Raises IllegalTransition for a campaign that is not running.
    """
    if campaign.state not in PAUSABLE:
        raise IllegalTransition(
            f"campaign: is {campaign.doing}; only a running campaign can be paused"
        )
    ask_to_pause(campaign, "pause requested; a running evaluation is finished first")
    release_vanished(Evaluation.objects.filter(candidate__round__campaign=campaign))
    return advance(campaign)


def resume(campaign: Campaign) -> Next:
    """End a pause, or withdraw a request for one. Raises IllegalTransition without either."""
    with transaction.atomic():
        if campaign.state == CampaignState.PAUSED:
            moved = move(campaign, campaign.paused_from, paused_from="", pause_requested=False)
        elif campaign.pause_requested:
            asked = Campaign.objects.filter(pk=campaign.pk, pause_requested=True)
            moved = claim(asked, pause_requested=False)
        else:
            raise IllegalTransition(f"campaign: is {campaign.doing}, not paused")
        if not moved:
            return NOTHING
        # The next wait for a device counts anew.
        campaign.device_waits.filter(ended_at=None).update(ended_at=timezone.now())
        record(campaign, "resumed", "resumed")
    campaign.pause_requested = False
    return AGAIN


# Where a round waits for measurements; the comparison of the report is waited for.
MEASURED = (CampaignState.BASELINE, CampaignState.VALIDATE, CampaignState.DECIDE)


def stop(campaign: Campaign) -> Next:
    """End at once what no worker holds; else the open round is finished first.

    A worker that is alive still compares the best with v0. A second request, before it begins,
    leaves that out. Raises IllegalTransition for a finished campaign.
    """
    if campaign.is_finished:
        raise IllegalTransition(f"campaign: is already {campaign.state}")
    if campaign.state == CampaignState.DRAFT:
        return abort(campaign, AbortReason.USER, "Stopped by a person before it was confirmed.")
    asked = Campaign.objects.filter(pk=campaign.pk, stop_requested=False).exclude(
        state__in=FINISHED
    )
    with transaction.atomic():
        if claim(asked, stop_requested=True):
            record(campaign, "stop_requested", "stop requested; what a worker is at is finished")
            if campaign.state == CampaignState.PAUSED or campaign.pause_requested:
                resume(campaign)
    campaign.refresh_from_db()
    release_vanished(Evaluation.objects.filter(candidate__round__campaign=campaign))
    following = AGAIN
    if is_held(campaign):
        return following
    # No flow worker need be alive: the steps to the end are taken here.
    while following.again or (following.measure and campaign.state in MEASURED):
        call_off(campaign)
        following = advance(campaign)
        campaign.refresh_from_db()
    return following


ARCHIVED, UNARCHIVED = "archived", "unarchived"


def archive(campaign: Campaign, by: Any) -> bool:
    """Put a finished campaign out of sight; False where it is already.

    Raises IllegalTransition for one that is not finished: it would run on unseen.
    """
    if not campaign.is_finished:
        raise IllegalTransition(f"campaign {campaign.pk}: is {campaign.doing}; stop it first")
    with transaction.atomic():
        _, is_new = ArchivedCampaign.objects.get_or_create(campaign=campaign, defaults={"by": by})
        if is_new:
            record(campaign, ARCHIVED, f"archived by {by}", by=by)
    return is_new


def unarchive(campaign: Campaign, by: Any) -> bool:
    """Bring it back into sight; False where it is there."""
    with transaction.atomic():
        gone, _ = ArchivedCampaign.objects.filter(campaign=campaign).delete()
        if gone:
            record(campaign, UNARCHIVED, f"brought back by {by}", by=by)
    return bool(gone)
