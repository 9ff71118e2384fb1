"""torch beside a campaign gives way to a round: it is not begun while one waits, or ended for it.

max-autotune alone may take minutes, for which no campaign waits. What is ended waits again.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from campaigns.models import Evaluation, EvaluationState, Worker
from campaigns.models.transitions import move
from campaigns.records.evaluations import rounds_waiting
from campaigns.workers.context import WorkerContext

# What another worker is free for is taken within moments; nothing is ended for that.
WAITS_S = 10.0


class RoundWaits(Exception):
    """A round needs the device now; torch can wait."""


def gives_way(evaluation: Evaluation, context: WorkerContext, waits_s: float = 0.0) -> bool:
    """Whether it is torch, and a round that some worker would take has waited for so long."""
    if not evaluation.traits.is_torch:
        return False
    platform, own = context.worker.platform_id, context.worker.pk
    others = Worker.objects.alive().filter(platform=platform).exclude(pk=own)
    if not context.serves_all and not others.exists():
        return False
    since = timezone.now() - timedelta(seconds=waits_s)
    return rounds_waiting(platform).filter(created_at__lte=since).exists()


def require_no_round(evaluation: Evaluation, context: WorkerContext) -> None:
    """Called while it is measured. Raises RoundWaits."""
    if gives_way(evaluation, context, WAITS_S):
        raise RoundWaits


def put_back(evaluation: Evaluation) -> None:
    """Queue it again. No worker was lost, so the claim does not count."""
    move(
        evaluation,
        EvaluationState.QUEUED,
        holder__is=evaluation.holder,
        holder="",
        phase="",
        heartbeat_at=None,
        claims=F("claims") - 1,
    )
