"""What makes a campaign wait: a device that is not free, a phase out of time, a pause.

Nothing sleeps and nothing is counted against anybody: the wait is a row, reconcile rings when the
next look is due, and a campaign that has waited for an hour is paused (R8).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.models import Campaign, Cause, DeviceWait, Evaluation, EvaluationState, Worker
from campaigns.models.event import record
from campaigns.models.transitions import PAUSABLE, claim
from campaigns.records.device_waits import awaited_by, wait_for
from campaigns.records.time_spent import clock_of, doing_words, used_words
from campaigns.rules.noise.device_gate import (
    HOST_EVERY_S,
    LOOK_EVERY_S,
    MOST_WAIT_S,
    QUIET,
    next_check_s,
    waited_s,
)
from campaigns.rules.stop.phases import MEASURING, Overrun, overrun
from campaigns.rules.wording import minutes

ASKED = "pause_requested"


def ask_to_pause(campaign: Campaign, why: str, kind: str = ASKED, **data: Any) -> bool:
    """Ask once; False where a pause is asked for already, or the campaign is not at work.

    kind, data: of the event that says why.
    """
    asked = Campaign.objects.filter(pk=campaign.pk, state__in=PAUSABLE, pause_requested=False)
    with transaction.atomic():
        if not claim(asked, pause_requested=True):
            return False
        record(campaign, kind, why, **data)
    campaign.pause_requested = True
    return True


# Under this reason the event that asks for the pause can be told from a person's (R49).
WAITED = "no_free_device"


def wait_for_device(
    evaluation: Evaluation, worker: Worker, cause: Cause, why: str, what: str = ""
) -> Campaign | None:
    """Record that this worker's device is not free; answer the campaign when it is to be paused.

    what: the device by its name, or QUIET: a host on which it can be measured again.
    A device that is only held is tried at every ring: that it still is, is kept every ten minutes.
    """
    campaign, now, before = evaluation.campaign, timezone.now(), wait_for(evaluation)
    if before is not None and cause is Cause.HELD and now < before.look_at:
        return None
    # Another worker may have begun meanwhile, with it or with another of its campaign.
    queued = Evaluation.objects.filter(pk=evaluation.pk, state=EvaluationState.QUEUED)
    served = awaited_by(campaign).filter(state=EvaluationState.RUNNING)
    beside = evaluation.traits.is_apart
    if not queued.exists() or (not beside and served.exists()):
        return None
    every_s = HOST_EVERY_S if what == QUIET else LOOK_EVERY_S
    looked = _looked(before, worker, every_s, is_busy=cause is Cause.BUSY, bounded=not beside)
    looked |= {"cause": cause, "why": why, "device": what or worker.device}
    with transaction.atomic():
        wait, is_new = DeviceWait.objects.update_or_create(
            looked,
            {**looked, "since": now},
            campaign=campaign,
            is_reproduction=beside,
            ended_at=None,
        )
        if is_new:
            begins, _ = wait.event_kinds
            record(campaign, begins, wait.words, evaluation=evaluation.pk)
        if not wait.is_over:
            return None
        sentence = (
            f"No {'quiet host' if wait.is_for_host else 'free device'} for "
            f"{minutes(wait.waited_s)} min; the campaign is paused. Resume it "
            f"when there is one. Last seen: {wait.why}"
        )
        asked = ask_to_pause(campaign, sentence, reason=WAITED, cause=wait.cause)
        return campaign if asked else None


def _looked(
    before: DeviceWait | None, worker: Worker, every_s: float, *, is_busy: bool, bounded: bool
) -> dict[str, Any]:
    """The columns of a wait that each look writes. bounded: whether a pause ends it."""
    now = timezone.now()
    waited, looks = 0.0, {}
    if before is not None:
        since_look_s = (now - before.looked_at) / timedelta(seconds=1)
        waited = waited_s(before.waited_s, since_look_s, before.planned_s)
        looks = {card: at for card, at in before.looks.items() if card != worker.card}
    look_at = now + timedelta(seconds=next_check_s(waited, bounded=bounded, every_s=every_s))
    if is_busy:
        looks[worker.card] = look_at.isoformat()
    return {
        "looked_at": now,
        "worker": worker.name,
        "card": worker.card,
        "waited_s": waited,
        "look_at": look_at,
        "pause_at": now + timedelta(seconds=max(0.0, MOST_WAIT_S - waited)) if bounded else None,
        "looks": looks,
    }


def end_wait(evaluation: Evaluation, worker: Worker) -> None:
    """End the wait, if there is one; in the transaction that claims the evaluation."""
    wait = wait_for(evaluation)
    if wait is None:
        return
    if claim(DeviceWait.objects.filter(pk=wait.pk, ended_at=None), ended_at=timezone.now()):
        _, ends = wait.event_kinds
        message = f"{worker.device} of {worker.name} is free"
        if wait.is_for_host:
            message = f"the host of {worker.name} is quiet; what met load is measured again"
        record(wait.campaign, ends, message, evaluation=evaluation.pk)


LATE = "phase_late"


def limit_phase(campaign: Campaign) -> bool:
    """Request a pause when measuring has used up the time of the phase; True when it has.

    As with any pause, the running measurement is finished first. Resuming the campaign gives the
    phase its whole time again.
    """
    if campaign.state not in MEASURING or campaign.pause_requested:
        return False
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.PAUSE:
        return False
    late = f"{doing_words(clock)} has {used_words(clock)} of measuring"
    words = f"{late}; paused; resuming the campaign gives the phase its whole time again"
    return ask_to_pause(campaign, words, LATE, state=clock.state, spent_s=round(clock.spent_s, 1))
