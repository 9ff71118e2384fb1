"""Pause a campaign: the running measurement is finished, and nothing new begins."""

from __future__ import annotations

from campaigns.models import Campaign, IllegalTransition
from campaigns.models.transitions import PAUSABLE
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause
from campaigns.workers.notify import AGAIN, NOTHING, Next


def pause(campaign: Campaign) -> Next:
    """Request a pause; `advance` pauses the campaign between two evaluations.

    Raises IllegalTransition for a campaign that is not running.
    """
    if campaign.state not in PAUSABLE:
        raise IllegalTransition(
            f"campaign: is {campaign.doing}; only a running campaign can be paused"
        )
    why = "pause requested; the running evaluation is finished first"
    return AGAIN if ask_to_pause(campaign, why) else NOTHING
