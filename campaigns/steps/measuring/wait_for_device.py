"""An evaluation whose device is not free stays queued: why, when to look again, when to give up.

Nothing sleeps and nothing is counted against anybody: the wait is an event, reconcile rings when
the next look is due, and a campaign that has waited for an hour is paused (R8).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from campaigns.models import Campaign, Evaluation, EvaluationKind, EvaluationState, Worker
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim
from campaigns.records.device_waits import Cause, Wait, awaited_by, kinds_of, wait_of
from campaigns.rules.noise.device_gate import MOST_WAIT_S, next_check_s, waited_s
from campaigns.rules.wording import minutes

# Under this reason the event that asks for the pause can be told from a person's (R49).
WAITED = "no_free_device"


def wait_for_device(
    evaluation: Evaluation, worker: Worker, cause: Cause, why: str
) -> Campaign | None:
    """Record that this worker's device is not free; answer the campaign when it is to be paused.

    A device that is only held is tried at every ring: that it still is, is told every ten minutes.
    """
    campaign, kinds, now = evaluation.campaign, kinds_of(evaluation), timezone.now()
    before = wait_of(campaign, kinds)
    if before is not None and cause is Cause.HELD and now < before.look_at:
        return None
    if _is_served(evaluation):
        return None
    wait = _next(before, (worker, cause, why), now, bounded=_is_bounded(evaluation))
    with transaction.atomic():
        record(campaign, kinds.busy, wait.words, evaluation=evaluation.pk, **wait.stored)
        return campaign if wait.is_over and _pause(campaign, wait) else None


def _is_served(evaluation: Evaluation) -> bool:
    """Whether another worker has begun meanwhile, with it or with another of its campaign."""
    if not Evaluation.objects.filter(pk=evaluation.pk, state=EvaluationState.QUEUED).exists():
        return True
    awaited = awaited_by(evaluation.campaign)
    running = awaited.filter(state=EvaluationState.RUNNING)
    return _is_bounded(evaluation) and running.exists()


def _is_bounded(evaluation: Evaluation) -> bool:
    return evaluation.kind != EvaluationKind.REPRODUCE


def _next(
    before: Wait | None, seen: tuple[Worker, Cause, str], now: datetime, *, bounded: bool
) -> Wait:
    worker, cause, why = seen
    waited = 0.0
    if before is not None:
        since_check_s = (now - before.at) / timedelta(seconds=1)
        waited = waited_s(before.waited_s, since_check_s, before.planned_s)
    look_at = now + timedelta(seconds=next_check_s(waited, bounded=bounded))
    looks = {
        card: at for card, at in (before.looks if before else {}).items() if card != worker.card
    }
    if cause is Cause.BUSY:
        looks[worker.card] = look_at
    return Wait(
        since=before.since if before else now,
        at=now,
        why=why,
        cause=cause,
        device=worker.device,
        worker=worker.name,
        waited_s=waited,
        look_at=look_at,
        pause_at=now + timedelta(seconds=max(0.0, MOST_WAIT_S - waited)) if bounded else None,
        looks=looks,
        card=worker.card,
    )


def _pause(campaign: Campaign, wait: Wait) -> bool:
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    if not claim(asked, pause_requested=True):
        return False
    words = f"No free device for {minutes(wait.waited_s)} min; the campaign is paused. Resume it "
    sentence = f"{words}when there is one. Last seen: {wait.why}"
    record(campaign, "pause_requested", sentence, reason=WAITED, cause=wait.cause.value)
    return True
