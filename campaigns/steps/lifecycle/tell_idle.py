"""Tell once of a phase without a sign of life (R16, R59)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.records.phase_clock import clock_of, doing_words, is_waiting, used_words
from campaigns.rules.stop.phases import MEASURING, Overrun, is_idle, overrun
from campaigns.rules.wording import minutes

IDLE = "phase_idle"


def tell_idle(campaign: Campaign) -> bool:
    """Tell once of a phase without a sign of life; True where it was told now.

    A measurement tells of itself: by its heart, by its place in the queue, by what it waits for.
    """
    if campaign.state in MEASURING and is_waiting(campaign):
        return False
    clock = clock_of(campaign, timezone.now())
    if clock is None or not is_idle(clock) or overrun(clock) is Overrun.DECLINE:
        return False
    last = campaign.events.last()
    if last is not None and last.kind == IDLE:
        return False
    late = overrun(clock) is Overrun.TELL
    idle = f"no sign of life for {minutes(clock.silent_s)} min while {doing_words(clock)}"
    more = f"; {used_words(clock)}" if late else ""
    words = f"{idle}{more}; its step is asked for again"
    record(campaign, IDLE, words, state=clock.state, silent_s=round(clock.silent_s, 1))
    return True
