"""Ask for a pause of a campaign, and record why."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim

ASKED = "pause_requested"


def ask_to_pause(campaign: Campaign, why: str, kind: str = ASKED, **data: Any) -> bool:
    """Ask once; False where a pause is asked for already, or the campaign is not at work.

    kind, data: of the event that says why.
    """
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    with transaction.atomic():
        if not claim(asked, pause_requested=True):
            return False
        record(campaign, kind, why, **data)
    campaign.pause_requested = True
    return True
