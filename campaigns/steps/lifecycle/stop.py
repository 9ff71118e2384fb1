"""A person ends a campaign: it goes to its report with what it has."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import AbortReason, Campaign, CampaignState, Evaluation, IllegalTransition
from campaigns.models.event import record
from campaigns.models.transitions import FINISHED, claim
from campaigns.records.device_waits import is_held
from campaigns.steps.lifecycle.abort import abort
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.call_off import call_off
from campaigns.steps.lifecycle.resume import resume
from campaigns.steps.recovery.release_vanished import release_vanished
from campaigns.workers.notify import AGAIN, Next

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
    return AGAIN if is_held(campaign) else _wind_up(campaign)


def _wind_up(campaign: Campaign) -> Next:
    """Take the steps to the end here: no flow worker need be alive either."""
    following = AGAIN
    while following.again or (following.measure and campaign.state in MEASURED):
        call_off(campaign)
        following = advance(campaign)
        campaign.refresh_from_db()
    return following
