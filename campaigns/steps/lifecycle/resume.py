"""Continue a paused campaign."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from campaigns.models import Campaign, CampaignState, IllegalTransition
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.workers.notify import AGAIN, NOTHING, Next


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
