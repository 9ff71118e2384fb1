"""The time that a campaign has taken so far, by its records."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from campaigns.models import Campaign, Evaluation, EvaluationKind
from campaigns.models.evaluation import AFTER_THE_ROUND, TORCH

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


def device_s_by_round(campaign: Campaign, now: datetime) -> dict[int, float]:
    """Round key → seconds of measuring until its verdict. One query."""
    until = min(now, campaign.finished_at) if campaign.finished_at else now
    rows = _on_a_device(campaign).exclude(kind__in=AFTER_THE_ROUND)
    found: dict[int, float] = defaultdict(float)
    times = rows.values_list("candidate__round", "started_at", "finished_at")
    for key, begun, ended in times:
        found[key] += _between(begun, ended, until).total_seconds()
    return found


def _device(campaign: Campaign, until: datetime) -> timedelta:
    times = _on_a_device(campaign).values_list("started_at", "finished_at")
    return sum((_between(begun, ended, until) for begun, ended in times), timedelta())


def _on_a_device(campaign: Campaign) -> QuerySet[Evaluation]:
    """All but builds, which hold none, and torch beside the incumbent, which is not its search."""
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign)
    return rows.exclude(kind__in=(EvaluationKind.BUILD, *TORCH))


def _between(begun: datetime | None, ended: datetime | None, until: datetime) -> timedelta:
    if begun is None:
        return timedelta()
    return max(min(ended or until, until) - begun, timedelta())
