"""Write the facts of a claimed evaluation down, once."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from campaigns.evaluator.contract import Outcome, Report, dump
from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.records.noise import as_host_failure, drift_under, may_repeat
from campaigns.steps.measuring.repeat_void import repeat_void
from campaigns.workers.connection import renew_connection

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 3


def record_report(evaluation: Evaluation, report: Report, *, retry: bool = True) -> Campaign | None:
    """End a claimed evaluation with its report, if the claim is still held.

    A claim that was given up, as its worker had shown no life for too long, counts as held until
    somebody else claims the evaluation.
    A broken host gets a new evaluation, at most three in all; its failure is not the candidate's.
    One that is void, as device or host did not stay the same, is repeated as well.
    """
    campaign = evaluation.campaign
    held = Q(state=EvaluationState.RUNNING, holder=evaluation.holder)
    given_up = Q(state=EvaluationState.QUEUED, holder="", claims=evaluation.claims)
    mine = Evaluation.objects.filter(held | given_up, pk=evaluation.pk)
    renew_connection()
    drifted = drift_under(evaluation, report)
    if drifted and not may_repeat(evaluation):
        report, drifted = as_host_failure(report, drifted), ()
    facts: dict[str, Any] = json.loads(dump(report))
    # What kopt has written itself does not cheat: then the host was too busy to tell.
    failed = (Outcome.BROKEN_HOST, *([Outcome.CHEATED] if evaluation.traits.is_torch else ()))
    broken = report.outcome in failed
    with transaction.atomic():
        if not claim(
            mine,
            state=EvaluationState.DONE,
            outcome=report.outcome.value,
            reason=report.reason,
            report=facts,
            phase=report.phase.value,
            finished_at=timezone.now(),
        ):
            log.warning("%s: taken over by another worker; result dropped", evaluation)
            return None
        if drifted:
            repeat_void(evaluation, drifted)
        again = retry and not evaluation.traits.is_help
        if broken and again and _attempts(evaluation, failed) < MOST_ATTEMPTS:
            evaluation.queue_again()
        round_ = evaluation.candidate.round
        who = f"round {round_.number}, {evaluation.candidate.label}"
        if evaluation.traits.is_torch:
            who = f"{evaluation.traits.words} beside round {round_.number}"
        message = f"{who}: {report.outcome.value}"
        record(campaign, "evaluated", message, round=round_, evaluation=evaluation.pk)
    return campaign


def _attempts(evaluation: Evaluation, outcomes: Iterable[Outcome]) -> int:
    same = Evaluation.objects.filter(candidate=evaluation.candidate, kind=evaluation.kind)
    return same.filter(outcome__in=list(outcomes)).count()
