"""What is to be done next, and the bell that tells a worker so.

The rows are the truth and the queue is only the bell: a ring that is lost is rung again by
`reconcile`, a ring that comes twice finds nothing left to claim.
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

# A ring older than this is dropped unread; reconcile has rung again by then.
EXPIRES_S = 600
# A worker's own look rings three times a minute; more than one ring at a time is of no use.
WORKER_EXPIRES_S = 15


@dataclass(frozen=True, slots=True)
class Next:
    """What a campaign needs now. again: another step. measure: keys of evaluations to claim."""

    again: bool = False
    measure: tuple[int, ...] = ()


NOTHING = Next()
AGAIN = Next(again=True)


def notify(campaign: Campaign, following: Next) -> None:
    """Call a worker once the present transaction is committed. Never raises for a broken queue."""
    if following.again:
        _after_commit("campaigns.tasks.advance", campaign.pk, "default")
    for key in following.measure:
        _after_commit("campaigns.tasks.measure", key, campaign.queue)


def notify_worker(worker: Worker) -> None:
    """Call a worker to look at its own device. Soon stale: it is rung again while that is due."""
    queue = queue_of(worker.platform)
    _after_commit("campaigns.tasks.passport", worker.name, queue, WORKER_EXPIRES_S)


def _after_commit(task: str, key: int | str, queue: str, expires_s: float = EXPIRES_S) -> None:
    def send() -> None:
        try:
            current_app.send_task(task, args=[key], queue=queue, expires=expires_s)
        except (OperationalError, OSError) as error:
            log.warning("%s(%s): the queue is unreachable (%s); rung again later", task, key, error)

    transaction.on_commit(send)
