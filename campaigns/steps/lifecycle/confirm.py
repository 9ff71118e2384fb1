"""A person confirms a draft; a worker may run it from then on (R1)."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import Campaign, CampaignState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.workers.notify import AGAIN, NOTHING, Next


def confirm(campaign: Campaign) -> Next:
    """Release a draft. Confirming twice does nothing more."""
    if campaign.state == CampaignState.CONFIRMED:
        return NOTHING
    with transaction.atomic():
        if not move(campaign, CampaignState.CONFIRMED):
            return NOTHING
        record(campaign, "confirmed", "confirmed; goal, cases and protocol are frozen")
    return AGAIN
