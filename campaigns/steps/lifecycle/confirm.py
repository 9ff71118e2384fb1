"""A person confirms a draft; a worker may run it from then on (R1)."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import Campaign, CampaignState, IllegalTransition
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.target.ceilings import unknown_target
from campaigns.workers.notify import AGAIN, NOTHING, Next


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
