"""Hold a campaign's phases to their limits; running out is told, and has an outcome (R16, R59)."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from campaigns.models import Campaign, CampaignState
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim
from campaigns.records.phase_clock import clock_of, is_waiting
from campaigns.rules.stop.phases import LIMITS, MEASURING, Clock, Overrun, is_idle, overrun
from campaigns.rules.wording import minutes

IDLE = "phase_idle"
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
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    with transaction.atomic():
        if not claim(asked, pause_requested=True):
            return False
        late = f"{_doing(clock)} has {_spent(clock)} of measuring"
        words = f"{late}; paused, and resuming it gives it its time again"
        record(campaign, LATE, words, state=clock.state, spent_s=round(clock.spent_s, 1))
    campaign.pause_requested = True
    return True


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
    idle = f"no sign of life for {minutes(clock.silent_s)} min while {_doing(clock)}"
    more = f"; {_spent(clock)}" if late else ""
    words = f"{idle}{more}; its step is asked for again"
    record(campaign, IDLE, words, state=clock.state, silent_s=round(clock.silent_s, 1))
    return True


def _spent(clock: Clock) -> str:
    limit = LIMITS[clock.state]
    used, whole = minutes(clock.spent_s), minutes(limit.wall_s)
    return f"used {used} of its {whole} min"


def _doing(clock: Clock) -> str:
    return CampaignState(clock.state).words
