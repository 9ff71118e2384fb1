"""Record that an evaluation no longer waits for its device (R8)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import DeviceWait, Evaluation, Worker
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.records.device_waits import wait_for


def end_wait(evaluation: Evaluation, worker: Worker) -> None:
    """End the wait, if there is one; in the transaction that claims the evaluation."""
    wait = wait_for(evaluation)
    if wait is None:
        return
    if claim(DeviceWait.objects.filter(pk=wait.pk, ended_at=None), ended_at=timezone.now()):
        _, ends = wait.event_kinds
        message = f"{worker.device} of {worker.name} is free"
        record(wait.campaign, ends, message, evaluation=evaluation.pk)
