"""Find what a dead worker left behind, release it, and say what has to be rung again."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.models import Campaign, Evaluation, EvaluationState, Worker
from campaigns.models.event import record
from campaigns.models.transitions import WORKING, move
from campaigns.records.device_waits import awaited_by, wait_of
from campaigns.steps.lifecycle.limit_phase import tell_idle
from campaigns.steps.measuring.record_report import record_report
from campaigns.workers.claim_holder import is_gone, worker_of
from campaigns.workers.notify import AGAIN, Next

# A candidate that takes its worker along this often is not given to another one.
MOST_CLAIMS = 5


def reconcile() -> list[tuple[Campaign, Next]]:
    """Run at worker start and a few times a minute; running it more often does no harm."""
    release_vanished(Evaluation.objects.all())
    working = Campaign.objects.filter(state__in=WORKING).select_related("platform")
    for campaign in working:
        tell_idle(campaign)
    wanted = ((campaign, _next(campaign)) for campaign in working)
    return [(campaign, following) for campaign, following in wanted if following]


def release_vanished(among: QuerySet[Evaluation]) -> None:
    """Take back those of these evaluations whose worker has ended or shows no life."""
    running = among.filter(state=EvaluationState.RUNNING)
    expired = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S)
    for evaluation in running.select_related("candidate__round__campaign"):
        silent = evaluation.heartbeat_at is None or evaluation.heartbeat_at < expired
        if silent or is_gone(evaluation.holder):
            _release(evaluation)


def _release(evaluation: Evaluation) -> None:
    """Queue the evaluation again, or give it up when it has taken too many workers along."""
    campaign, worker = evaluation.campaign, worker_of(evaluation.holder)
    message = f"worker {worker} vanished while it held {evaluation}"
    with transaction.atomic():
        if evaluation.claims >= MOST_CLAIMS:
            reason = f"{evaluation.claims} workers vanished while they measured this candidate"
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


def _next(campaign: Campaign) -> Next | None:
    waiting = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    states = dict(waiting.values_list("pk", "state"))
    if EvaluationState.RUNNING in states.values():
        return None
    if not states or campaign.pause_requested:
        return AGAIN
    return Next(measure=tuple(sorted(states))) if _has_idle_worker(campaign) else None


def _has_idle_worker(campaign: Campaign) -> bool:
    """A busy worker comes to the queue by itself, and an absent one reconciles when it starts.

    Of one whose device others use, the ring waits for the next look that is due.
    """
    alive = Worker.objects.filter(platform=campaign.platform).alive()
    busy = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__in=alive)
    cards = list(alive.exclude(pk__in=busy.values("worker")).values_list("card", flat=True))
    wait = wait_of(campaign)
    return bool(cards) if wait is None else any(wait.is_due(c, timezone.now()) for c in cards)
