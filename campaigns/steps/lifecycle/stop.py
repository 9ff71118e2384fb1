"""A person ends a campaign: it goes to its report with what it has."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import AbortReason, Campaign, CampaignState, IllegalTransition
from campaigns.models.event import record
from campaigns.models.transitions import FINISHED, claim
from campaigns.steps.lifecycle.abort import abort
from campaigns.steps.lifecycle.resume import resume
from campaigns.workers.notify import AGAIN, NOTHING, Next


def stop(campaign: Campaign) -> Next:
    """Request the end; the open round is finished first. A second request changes nothing.

    Raises IllegalTransition for a finished campaign.
    """
    if campaign.is_finished:
        raise IllegalTransition(f"campaign: is already {campaign.state}")
    if campaign.state == CampaignState.DRAFT:
        return abort(campaign, AbortReason.USER, "Stopped by a person before it was confirmed.")
    asked = Campaign.objects.filter(pk=campaign.pk, stop_requested=False).exclude(
        state__in=FINISHED
    )
    with transaction.atomic():
        if not claim(asked, stop_requested=True):
            return NOTHING
        record(campaign, "stop_requested", "stop requested; the open round is finished first")
        if campaign.state == CampaignState.PAUSED or campaign.pause_requested:
            resume(campaign)
    campaign.stop_requested = True
    return AGAIN
