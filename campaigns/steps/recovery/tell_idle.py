"""Record once that a phase shows no sign of life (R16, R59)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.records.phase_clock import clock_of, doing_words, is_waiting, used_words
from campaigns.rules.stop.phases import MEASURING, Overrun, is_idle, overrun
from campaigns.rules.wording import minutes

IDLE = "phase_idle"


def tell_idle(campaign: Campaign) -> bool:
    """Record once that a phase shows no sign of life; True when recorded now.

    A measurement is left out: its heartbeat, its place in the queue or its wait shows life.
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
    words = f"{idle}{more}; its step is requested again"
    record(campaign, IDLE, words, state=clock.state, silent_s=round(clock.silent_s, 1))
    return True
