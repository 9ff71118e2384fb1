"""Run a whole campaign in this process, without the queue."""

from __future__ import annotations

from collections.abc import Callable

from campaigns.models import Campaign
from campaigns.steps.advance import advance
from campaigns.steps.evaluate import Bench, evaluate


def run_here(key: int, bench: Bench, tell: Callable[[str], None]) -> Campaign:
    """Advance the campaign until it is finished or held; `tell` hears of every new event.

    Raises DeviceBusy when another process keeps the device for longer than the bench's patience.
    """
    told = 0
    while True:
        campaign = Campaign.objects.select_related("problem", "platform", "protocol").get(pk=key)
        for event in campaign.events.filter(pk__gt=told):
            tell(event.message)
            told = event.pk
        following = advance(campaign)
        for evaluation in following.measure:
            evaluate(evaluation, bench)
        if not following.again and not following.measure:
            campaign.refresh_from_db()
            return campaign
