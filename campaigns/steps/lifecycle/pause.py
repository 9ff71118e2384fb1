"""Pause a campaign: the running measurement is finished, and nothing new begins."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import Campaign, IllegalTransition
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim
from campaigns.workers.notify import AGAIN, NOTHING, Next


def pause(campaign: Campaign) -> Next:
    """Request a pause; `advance` pauses the campaign between two evaluations.

    Raises IllegalTransition for a campaign that is not running.
    """
    if campaign.state not in PAUSABLE:
        raise IllegalTransition(
            f"campaign: is {campaign.doing}; only a running campaign can be paused"
        )
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    with transaction.atomic():
        if not claim(asked, pause_requested=True):
            return NOTHING
        record(
            campaign, "pause_requested", "pause requested; the running evaluation is finished first"
        )
    campaign.pause_requested = True
    return AGAIN
