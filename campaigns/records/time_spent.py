"""The time that a campaign has taken so far, by its records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from campaigns.models import Campaign, Evaluation, EvaluationKind

HOUR = timedelta(hours=1)
# A wait for a device that others use is the host's doing, and no budget pays for it (law 8).
BEGINS = ("confirmed", "resumed", "device_idle")
ENDS = ("paused", "finished", "device_busy")


@dataclass(frozen=True, slots=True)
class Spent:
    """wall_h: hours since it was confirmed, without pauses and waits for a device.

    device_h: hours of measuring.
    """

    wall_h: float
    device_h: float


def time_spent(campaign: Campaign, now: datetime) -> Spent:
    """Both so far; what is going on counts up to `now`, or to the campaign's end. Two queries."""
    until = min(now, campaign.finished_at) if campaign.finished_at else now
    return Spent(_wall(campaign, until) / HOUR, _device(campaign, until) / HOUR)


def _wall(campaign: Campaign, until: datetime) -> timedelta:
    spent, since = timedelta(), None
    marks = campaign.events.filter(kind__in=(*BEGINS, *ENDS)).order_by("pk")
    for kind, at in marks.values_list("kind", "at"):
        if kind in BEGINS and since is None:
            since = at
        elif kind in ENDS and since is not None:
            spent, since = spent + (at - since), None
    return spent + (max(until - since, timedelta()) if since else timedelta())


def _device(campaign: Campaign, until: datetime) -> timedelta:
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign)
    rows = rows.exclude(kind=EvaluationKind.BUILD)  # which holds no device
    spent = timedelta()
    for begun, ended in rows.values_list("started_at", "finished_at"):
        if begun is not None:
            spent += max(min(ended or until, until) - begun, timedelta())
    return spent
