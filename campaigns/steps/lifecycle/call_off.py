"""What no worker has taken of a stopped campaign is not waited for (law 10)."""

from __future__ import annotations

import json

from django.db import transaction
from django.utils import timezone

from campaigns.evaluator.contract import Outcome, Phase, Report, dump
from campaigns.models import AbortReason, Campaign, Evaluation, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.device_waits import awaited_by, is_held
from campaigns.steps.lifecycle.abort import abort

WHY = "a person stopped the campaign before a worker took this measurement"
BEFORE = "Stopped by a person before the baseline was measured."


def call_off(campaign: Campaign) -> None:
    """End what waits in the queue as not measured, which is no failure of a candidate (law 8).

    A campaign that waits for its baseline has nothing to report, so it is aborted.
    """
    queued = awaited_by(campaign).filter(state=EvaluationState.QUEUED)
    waiting = list(queued.select_related("candidate__round"))
    unmeasured = bool(waiting) or not campaign.rounds.exists()
    for evaluation in waiting:
        _end(campaign, evaluation)
    if campaign.incumbent_id is None and unmeasured and not is_held(campaign):
        abort(campaign, AbortReason.USER, BEFORE)


def _end(campaign: Campaign, evaluation: Evaluation) -> None:
    report = Report(f"evaluation-{evaluation.pk}", Outcome.BROKEN_HOST, Phase.START, WHY)
    round_ = evaluation.candidate.round
    with transaction.atomic():
        if move(
            evaluation,
            EvaluationState.DONE,
            outcome=report.outcome.value,
            reason=report.reason,
            report=json.loads(dump(report)),
            phase=report.phase.value,
            finished_at=timezone.now(),
        ):
            message = f"round {round_.number}, {evaluation.candidate.label}: not measured: {WHY}"
            record(campaign, "called_off", message, round=round_, evaluation=evaluation.pk)
