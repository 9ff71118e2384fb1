"""Release evaluations whose worker has vanished."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.models import Evaluation, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.steps.measuring.record_report import record_report
from campaigns.workers.claim_holder import is_gone, worker_of

# After so many lost workers a candidate is not measured again.
MOST_CLAIMS = 5


def release_vanished(among: QuerySet[Evaluation]) -> None:
    """Release those of these evaluations whose worker has ended or sends no heartbeat."""
    running = among.filter(state=EvaluationState.RUNNING)
    expired = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S)
    for evaluation in running.select_related("candidate__round__campaign"):
        silent = evaluation.heartbeat_at is None or evaluation.heartbeat_at < expired
        if silent or is_gone(evaluation.holder):
            _release(evaluation)


def _release(evaluation: Evaluation) -> None:
    """Queue the evaluation again, or end it when it has lost too many workers.

    Help with a search ends: the search gives out again what was not done, and asks for other help.
    """
    campaign, worker = evaluation.campaign, worker_of(evaluation.holder)
    message = f"worker {worker} vanished while it held {evaluation}"
    with transaction.atomic():
        if evaluation.claims >= MOST_CLAIMS or evaluation.traits.is_help:
            reason = f"{evaluation.claims} workers vanished while they measured this candidate"
            if evaluation.traits.is_help:
                reason = f"worker {worker} vanished"
            report = Report(f"evaluation-{evaluation.pk}", Outcome.BROKEN_HOST, Phase.START, reason)
            released = record_report(evaluation, report, retry=False) is not None
        else:
            released = move(
                evaluation,
                EvaluationState.QUEUED,
                holder__is=evaluation.holder,
                holder="",
                phase="",
                heartbeat_at=None,
            )
        if released:
            round_ = evaluation.candidate.round
            record(campaign, "worker_vanished", message, round=round_, worker=worker)
