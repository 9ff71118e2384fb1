"""Hold a campaign: what is being measured is finished, nothing new is begun."""

from __future__ import annotations

from campaigns.models import Campaign, IllegalTransition
from campaigns.models.transitions import PAUSABLE
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause
from campaigns.workers.notify import AGAIN, NOTHING, Next


def pause(campaign: Campaign) -> Next:
    """Ask for a pause; `advance` holds the campaign between two evaluations.

    Raises IllegalTransition for a campaign that is not at work.
    """
    if campaign.state not in PAUSABLE:
        raise IllegalTransition(f"campaign: is {campaign.doing}; only one at work can be paused")
    why = "pause requested; holds after the running evaluation"
    return AGAIN if ask_to_pause(campaign, why) else NOTHING
