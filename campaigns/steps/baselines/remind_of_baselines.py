"""Notify idle workers again of reference implementations that wait to be measured."""

from __future__ import annotations

from campaigns.models import Campaign, Evaluation, EvaluationState, Worker
from campaigns.models.kinds import TORCH
from campaigns.records.baselines import may_be_measured
from campaigns.workers.notify import Next


def remind_of_baselines() -> list[tuple[Campaign, Next]]:
    """The oldest that waits, of each platform with an idle worker; doing it again does no harm."""
    busy = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__isnull=False)
    idle = Worker.objects.alive().exclude(pk__in=busy.values("worker"))
    platforms = set(idle.values_list("platform", flat=True))
    rows = Evaluation.objects.filter(kind__in=TORCH, state=EvaluationState.QUEUED)
    found: dict[int, Evaluation] = {}
    for evaluation in rows.select_related("candidate__round__campaign__platform").order_by("pk"):
        if may_be_measured(evaluation) and evaluation.campaign.platform_id in platforms:
            found.setdefault(evaluation.campaign.platform_id, evaluation)
    return [(one.campaign, Next(measure=(one.pk,))) for one in found.values()]
