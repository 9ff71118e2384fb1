"""What workers are at, and what waits in the queue for what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from campaigns.models import CampaignState, Evaluation, EvaluationState, Worker
from campaigns.models.transitions import WORKING
from campaigns.records.device_waits import open_waits


@dataclass(frozen=True, slots=True)
class JobLine:
    """One measurement. place: in the queue of its platform, 1 is next; 0 while it runs.

    waits: what it waits for, without a full stop; "" while it runs. is_lost: no heartbeat.
    """

    evaluation: Evaluation
    place: int
    waits: str
    silent_s: float | None = None
    is_lost: bool = False


def running_jobs(now: datetime, lease_s: float) -> list[JobLine]:
    """The measurements that a worker has taken, the oldest first; one query."""
    found = []
    for row in _jobs(EvaluationState.RUNNING).order_by("started_at"):
        silent_s = max(0.0, (now - row.heartbeat_at).total_seconds()) if row.heartbeat_at else None
        found.append(JobLine(row, 0, "", silent_s, silent_s is None or silent_s > lease_s))
    return found


def queued_jobs() -> list[JobLine]:
    """What no worker has taken yet, in the order of the queues; three queries."""
    alive = Counter(Worker.objects.alive().values_list("platform_id", flat=True))
    waits = {wait.campaign_id: wait for wait in open_waits()}
    places: Counter[int] = Counter()
    found = []
    for row in _jobs(EvaluationState.QUEUED).order_by("pk"):
        campaign = row.campaign
        if campaign.state == CampaignState.PAUSED:
            found.append(JobLine(row, 0, "its campaign is paused"))
            continue
        places[campaign.platform_id] += 1
        place = places[campaign.platform_id]
        if not alive[campaign.platform_id]:
            why = f"no worker of {campaign.platform.name} is alive"
        elif wait := waits.get(campaign.pk):
            why = wait.words
        else:
            why = "a worker takes it next" if place == 1 else f"{place - 1} before it"
        found.append(JobLine(row, place, why))
    return found


def _jobs(state: EvaluationState) -> QuerySet[Evaluation]:
    open_ones = (*WORKING, CampaignState.PAUSED, CampaignState.DONE)
    rows = Evaluation.objects.filter(state=state, candidate__round__campaign__state__in=open_ones)
    return rows.select_related("worker", "candidate__round__campaign__platform").defer("report")
