"""Record that an evaluation no longer waits for its device (R8)."""

from __future__ import annotations

from campaigns.models import Evaluation, Worker
from campaigns.models.event import record
from campaigns.records.device_waits import kinds_of, wait_of


def end_wait(evaluation: Evaluation, worker: Worker) -> None:
    """Record that the wait is over, if there was one; in the transaction that claims."""
    kinds = kinds_of(evaluation)
    wait = wait_of(evaluation.campaign, kinds)
    if wait is not None:
        message = f"{worker.device} of {worker.name} is free"
        record(evaluation.campaign, kinds.idle, message, evaluation=evaluation.pk)
