"""Hold a campaign's phases to their limits; running out is told, and has an outcome (R16, R59)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign
from campaigns.records.phase_clock import clock_of, doing_words, used_words
from campaigns.rules.stop.phases import MEASURING, Overrun, overrun
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause

LATE = "phase_late"


def limit_phase(campaign: Campaign) -> bool:
    """Ask for a pause where measuring has used up the phase's time; True where it has.

    The pause takes effect as any other: what is being measured is finished first. Whoever resumes
    the campaign gives the phase its whole time again.
    """
    if campaign.state not in MEASURING or campaign.pause_requested:
        return False
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.PAUSE:
        return False
    late = f"{doing_words(clock)} has {used_words(clock)} of measuring"
    words = f"{late}; paused, and resuming it gives it its time again"
    return ask_to_pause(campaign, words, LATE, state=clock.state, spent_s=round(clock.spent_s, 1))
