"""A campaign's present phase by its records: since when, how much of its limit is used (R16)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max

from campaigns.models import Campaign, CampaignState, EvaluationState, Phase
from campaigns.records.device_waits import awaited_by
from campaigns.rules.stop.phases import LIMITS, MEASURING, Clock
from campaigns.rules.wording import minutes


def present_phase(campaign: Campaign) -> Phase | None:
    """Since when it is in its state; None for one that has not moved since such rows are kept."""
    return if_present(campaign.phases.last(), campaign)


def if_present(newest: Phase | None, campaign: Campaign) -> Phase | None:
    """The newest of the campaign's phases, if it is the one that the campaign is in."""
    return newest if newest and newest.state == campaign.state else None


def clock_of(campaign: Campaign, now: datetime) -> Clock | None:
    """How long the present phase has lasted; at most four queries."""
    phase = present_phase(campaign)
    if phase is None:
        return None
    measured, life = _measured(campaign, phase.at, now)
    event = campaign.events.aggregate(at=Max("at"))["at"]
    latest = max(at for at in (phase.at, event, life) if at is not None)
    spent = measured if campaign.state in MEASURING else now - phase.at
    spent_s, silent_s = spent.total_seconds(), (now - latest).total_seconds()
    return Clock(campaign.state, max(spent_s, 0.0), max(silent_s, 0.0))


def is_waiting(campaign: Campaign) -> bool:
    """Whether a measurement is queued or running; its own row shows life."""
    open_ones = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    return open_ones.exists()


def _measured(
    campaign: Campaign, since: datetime, now: datetime
) -> tuple[timedelta, datetime | None]:
    """The time of measuring in this phase, and its last sign of life."""
    rows = awaited_by(campaign).filter(started_at__gte=since)
    spent = timedelta()
    life: datetime | None = None
    for begun, ended, beat in rows.values_list("started_at", "finished_at", "heartbeat_at"):
        if begun is None:
            continue
        until = ended or beat or begun
        spent += max(min(until, now) - begun, timedelta())
        life = max(until, life) if life else until
    return spent, life


def used_words(clock: Clock) -> str:
    """How much of its time the phase has used."""
    limit = LIMITS[clock.state]
    used, whole = minutes(clock.spent_s), minutes(limit.wall_s)
    return f"used {used} of its {whole} min"


def doing_words(clock: Clock) -> str:
    """What the phase does."""
    return CampaignState(clock.state).words
