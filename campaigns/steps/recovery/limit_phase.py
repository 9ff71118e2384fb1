"""Enforce the time limits of phases; an overrun is recorded and has a consequence (R16, R59)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign
from campaigns.records.time_spent import clock_of, doing_words, used_words
from campaigns.rules.stop.phases import MEASURING, Overrun, overrun
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause

LATE = "phase_late"


def limit_phase(campaign: Campaign) -> bool:
    """Request a pause when measuring has used up the time of the phase; True when it has.

    As with any pause, the running measurement is finished first. Resuming the campaign gives the
    phase its whole time again.
    """
    if campaign.state not in MEASURING or campaign.pause_requested:
        return False
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.PAUSE:
        return False
    late = f"{doing_words(clock)} has {used_words(clock)} of measuring"
    words = f"{late}; paused; resuming the campaign gives the phase its whole time again"
    return ask_to_pause(campaign, words, LATE, state=clock.state, spent_s=round(clock.spent_s, 1))
