"""The time that a campaign and its present phase have taken, by the records (R16)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Max

from campaigns.models import Campaign, CampaignState, Evaluation, EvaluationState, Phase
from campaigns.models.kinds import AFTER_THE_ROUND, UNCOUNTED
from campaigns.models.transitions import FINISHED
from campaigns.records.device_waits import awaited_by
from campaigns.rules.stop.phases import LIMITS, MEASURING, Clock
from campaigns.rules.wording import minutes

HOUR = timedelta(hours=1)
# A wait for a device that others use is the host's doing, and no budget pays for it (law 8).
BEGINS = ("confirmed", "resumed", "device_idle")
ENDS = ("paused", "finished", "device_busy")


@dataclass(frozen=True, slots=True)
class Spent:
    """wall_h: hours since it was confirmed, without pauses, waits and void measurements.

    device_h: hours of measuring that was not void.
    """

    wall_h: float
    device_h: float


def _until(campaign: Campaign, now: datetime) -> datetime:
    return min(now, campaign.finished_at or now)


def time_spent(campaign: Campaign, now: datetime) -> Spent:
    """Both so far; what is going on counts up to `now`, or to the campaign's end. Two queries."""
    until = _until(campaign, now)
    wall, since = timedelta(), None
    marks = campaign.events.filter(kind__in=(*BEGINS, *ENDS)).order_by("pk")
    for kind, at in marks.values_list("kind", "at"):
        if kind in BEGINS and since is None:
            since = at
        elif kind in ENDS and since is not None:
            wall, since = wall + (at - since), None
    wall += _between(since, None, until)
    times = {True: timedelta(), False: timedelta()}
    for one in _on_a_device(campaign, until):
        times[one.is_void] += one.span
    # Nor does any budget pay for what has to be measured again.
    wall, device = max(wall - times[True], timedelta()), times[False]
    return Spent(wall / HOUR, device / HOUR)


def device_s_by_round(campaign: Campaign, now: datetime) -> dict[int, float]:
    """Round key → seconds of measuring until its verdict. One query."""
    until = _until(campaign, now)
    found: dict[int, float] = defaultdict(float)
    for one in _on_a_device(campaign, until):
        if not one.is_void and one.kind not in AFTER_THE_ROUND:
            found[one.round] += one.span.total_seconds()
    return found


@dataclass(frozen=True, slots=True)
class PhaseSpent:
    """One phase: how often it was entered, and seconds of wall time and of measuring in it.

    void_s: of the latter what was void.
    """

    state: CampaignState
    entered: int = 0
    wall_s: float = 0.0
    device_s: float = 0.0
    void_s: float = 0.0


# What no campaign spends time in.
_OUTSIDE = (CampaignState.DRAFT, *FINISHED)


def spent_by_phase(campaign: Campaign, now: datetime) -> tuple[PhaseSpent, ...]:
    """Every phase in the order of its first entry; a measurement is of the one it began in.

    Two queries; empty for a campaign from before phases were kept.
    """
    until = _until(campaign, now)
    rows = list(campaign.phases.values_list("state", "at"))
    begins = [at for _, at in rows]
    found: dict[str, PhaseSpent] = {}
    for (state, at), end in zip(rows, [*begins, until][1:], strict=True):
        old = found.setdefault(state, PhaseSpent(CampaignState(state)))
        wall_s = old.wall_s + _between(at, end, until).total_seconds()
        found[state] = replace(old, entered=old.entered + 1, wall_s=wall_s)
    for one in _on_a_device(campaign, until):
        if number := bisect_right(begins, one.begun):
            old = found[rows[number - 1][0]]
            seconds = one.span.total_seconds()
            void_s = old.void_s + (seconds if one.is_void else 0.0)
            found[old.state] = replace(old, device_s=old.device_s + seconds, void_s=void_s)
    return tuple(spent for spent in found.values() if spent.state not in _OUTSIDE)


@dataclass(frozen=True, slots=True)
class _Measured:
    """One measurement of a round, by its key, and how long it had the device to itself."""

    round: int
    kind: str
    is_void: bool
    begun: datetime
    span: timedelta


def _on_a_device(campaign: Campaign, until: datetime) -> Iterator[_Measured]:
    """Each measurement in order of time; a second of a device is counted once.

    Workers of one device take turns on it: what one of them waits for the other is no second time.
    All but builds, which hold none, and torch beside the incumbent, which is not its search.
    """
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign, started_at__isnull=False)
    taken: dict[str, datetime] = {}
    columns = ("worker__card", "candidate__round", "kind", "void", "started_at", "finished_at")
    found = rows.exclude(kind__in=UNCOUNTED).order_by("started_at", "pk")
    for card, key, kind, void, begun, ended in found.values_list(*columns):
        device = card or ""
        since = max(begun, taken.get(device, begun))
        yield _Measured(key, kind, bool(void), since, _between(since, ended, until))
        taken[device] = max(since, ended or until)


def _between(begun: datetime | None, ended: datetime | None, until: datetime) -> timedelta:
    if begun is None:
        return timedelta()
    return max(min(ended or until, until) - begun, timedelta())


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
    # The time of measuring in this phase, and the last signs of life.
    measured, life = timedelta(), [phase.at]
    rows = awaited_by(campaign).filter(started_at__gte=phase.at)
    columns = ("started_at", "finished_at", "heartbeat_at", "void")
    for begun, ended, beat, why in rows.values_list(*columns):
        life.append(ended or beat or begun or phase.at)
        measured += timedelta() if why else _between(begun, life[-1], now)
    event = campaign.events.aggregate(at=Max("at"))["at"]
    latest = max(life if event is None else [*life, event])
    spent = measured if campaign.state in MEASURING else now - phase.at
    spent_s, silent_s = spent.total_seconds(), (now - latest).total_seconds()
    return Clock(campaign.state, max(spent_s, 0.0), max(silent_s, 0.0))


def is_waiting(campaign: Campaign) -> bool:
    """Whether a measurement is queued or running; its own row shows life."""
    open_ones = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    return open_ones.exists()


def used_words(clock: Clock) -> str:
    """How much of its time the phase has used."""
    limit = LIMITS[clock.state]
    used, whole = minutes(clock.spent_s), minutes(limit.wall_s)
    return f"used {used} of its {whole} min"


def doing_words(clock: Clock) -> str:
    """What the phase does."""
    return CampaignState(clock.state).words
