"""The claim of one row by this process: taken, kept alive, given back, or lost with its worker.

Evaluations and rounds of repositories are claimed alike: both have a state, a holder, a heartbeat,
a phase and a count of claims.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, QuerySet
from django.utils import timezone

from campaigns.devices.processes import ClaimLost, is_gone, new_holder
from campaigns.models import Evaluation, EvaluationState, Worker
from campaigns.models.transitions import claim, move

log = logging.getLogger(__name__)


def renew_connection() -> bool:
    """Close this thread's connection where it has died; the next query opens another one.

    False where it lives, or where there is none. A transaction cannot go on over another
    connection: within one nothing is done.
    """
    if connection.connection is None or connection.in_atomic_block or connection.is_usable():
        return False
    connection.close()
    return True


def begin(row: Any, name: str, phase: str, **more: Any) -> bool:
    """Claim a queued row for this worker; False where another one was first."""
    now = timezone.now()
    return move(
        row,
        EvaluationState.RUNNING,
        holder=new_holder(name),
        claims=F("claims") + 1,
        heartbeat_at=now,
        started_at=now,
        phase=phase,
        **more,
    )


def give_back(row: Any, **more: Any) -> bool:
    """Queue a claimed row again; False where the claim stands no more."""
    free = {"holder": "", "phase": "", "heartbeat_at": None}
    return move(row, EvaluationState.QUEUED, holder__is=row.holder, **free, **more)


def idle_workers() -> QuerySet[Worker]:
    """Workers that are alive and measure no evaluation."""
    running = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__isnull=False)
    return Worker.objects.alive().exclude(pk__in=running.values("worker"))


def is_vanished(row: Any) -> bool:
    """Whether the worker of a running row has ended, or sends no heartbeat."""
    expired = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S)
    return row.heartbeat_at is None or row.heartbeat_at < expired or is_gone(row.holder)


class ClaimHeartbeat:
    """Called every second with the phase; stores both now and then.

    row: as this process has claimed it. also: called whenever the phase is stored.
    """

    def __init__(self, row: Any, also: Callable[[], object] | None = None) -> None:
        rows = type(row)._default_manager
        self._mine = rows.filter(pk=row.pk, state=EvaluationState.RUNNING, holder=row.holder)
        self._longest = row._meta.get_field("phase").max_length
        self._also = also
        self._phase, self._due = "", 0.0

    def __call__(self, phase: str) -> None:
        """Raises ClaimLost. What follows finds a living connection, if there is a database."""
        renew_connection()
        now = time.monotonic()
        if phase == self._phase and now < self._due:
            return
        self._phase, self._due = phase, now + settings.KOPT_HEARTBEAT_S
        try:
            held = claim(self._mine, heartbeat_at=timezone.now(), phase=phase[: self._longest])
            if self._also:
                self._also()
        except (OperationalError, InterfaceError) as error:
            log.warning("heartbeat not written: %s", error)
            return
        if not held:
            raise ClaimLost
