"""What a campaign needs next, and the notification of a worker.

Rows hold the state; the queue only notifies. `reconcile` repeats a notification that was lost, and
one that arrives twice finds nothing left to claim.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from campaigns.models import Campaign, Worker
from campaigns.models.campaign import queue_of

log = logging.getLogger(__name__)

# An older notification is dropped; reconcile has repeated it by then.
EXPIRES_S = 600
# A heartbeat notifies three times a minute; more than one notification at a time has no use.
WORKER_EXPIRES_S = 15


@dataclass(frozen=True, slots=True)
class Next:
    """What a campaign needs now. again: one more step. measure: keys of evaluations to claim."""

    again: bool = False
    measure: tuple[int, ...] = ()


NOTHING = Next()
AGAIN = Next(again=True)


def notify(campaign: Campaign, following: Next) -> None:
    """Notify a worker when the transaction is committed. A broken queue is logged, never raised."""
    if following.again:
        send_after_commit("campaigns.tasks.advance", campaign.pk, "default")
    for key in following.measure:
        send_after_commit("campaigns.tasks.measure", key, campaign.queue)


def notify_worker(worker: Worker) -> None:
    """Notify a worker that its passport is due. Expires soon; the heartbeat repeats it."""
    queue = queue_of(worker.platform)
    send_after_commit("campaigns.tasks.passport", worker.name, queue, WORKER_EXPIRES_S)


def send_after_commit(task: str, key: int | str, queue: str, expires_s: float = EXPIRES_S) -> None:
    """Send a task when the transaction is committed; a queue that is away is logged."""

    def send() -> None:
        try:
            current_app.send_task(task, args=[key], queue=queue, expires=expires_s)
        except (OperationalError, OSError) as error:
            log.warning(
                "%s(%s): the queue is unreachable (%s); reconcile repeats it", task, key, error
            )

    transaction.on_commit(send)
