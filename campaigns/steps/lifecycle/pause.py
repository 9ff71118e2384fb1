"""Pause a campaign: a measurement that a worker is at is finished, and nothing new begins."""

from __future__ import annotations

from campaigns.models import Campaign, Evaluation, IllegalTransition
from campaigns.models.transitions import PAUSABLE
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause
from campaigns.steps.recovery.release_vanished import release_vanished
from campaigns.workers.notify import Next


def pause(campaign: Campaign) -> Next:
    """Pause at once where no worker is at it, else between two evaluations (`advance`).

    Raises IllegalTransition for a campaign that is not running.
    """
    if campaign.state not in PAUSABLE:
        raise IllegalTransition(
            f"campaign: is {campaign.doing}; only a running campaign can be paused"
        )
    ask_to_pause(campaign, "pause requested; a running evaluation is finished first")
    release_vanished(Evaluation.objects.filter(candidate__round__campaign=campaign))
    return advance(campaign)
