"""Take a campaign from looking for ideas to its report."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.models.transitions import move, stopping
from campaigns.rules.stop.policy import Stop
from campaigns.workers.notify import AGAIN, NOTHING, Next


def end_search(campaign: Campaign, stop: Stop) -> Next:
    """Move to the report, with the reason for it (law 10)."""
    values = stopping(stop)
    with transaction.atomic():
        if not move(campaign, values.pop("state"), **values):
            return NOTHING
        record(campaign, "ended", stop.sentence, reason=stop.reason)
    return AGAIN
