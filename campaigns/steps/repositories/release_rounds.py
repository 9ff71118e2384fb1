"""Release the rounds of repositories whose worker has ended; which ones wait for a worker."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.processes import is_gone, worker_of
from campaigns.models import EvaluationState, RepositoryRound, RepositoryState
from campaigns.models.transitions import move
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.measuring.results import MOST_CLAIMS
from campaigns.steps.repositories.stop_repository import stop_if_spent


def release_rounds() -> list[RepositoryRound]:
    """Rounds to try next, one of each repository. Run at worker start and a few times a minute."""
    expired = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S)
    for row in _in(EvaluationState.RUNNING):
        silent = row.heartbeat_at is None or row.heartbeat_at < expired
        if silent or is_gone(row.holder):
            _release(row)
    return next_rounds()


def next_rounds() -> list[RepositoryRound]:
    """The first round that waits of each repository in which none is tried now."""
    busy = {row.repository_id for row in _of(EvaluationState.RUNNING)}
    found: dict[int, RepositoryRound] = {}
    for row in _of(EvaluationState.QUEUED).order_by("number"):
        if row.repository_id not in busy:
            found.setdefault(row.repository_id, row)
    return list(found.values())


def _of(state: EvaluationState) -> QuerySet[RepositoryRound]:
    return _in(state).filter(repository__state=RepositoryState.OPEN)


def _in(state: EvaluationState) -> QuerySet[RepositoryRound]:
    return RepositoryRound.objects.select_related("repository__platform").filter(state=state)


def _release(row: RepositoryRound) -> None:
    """Queue it again; one that has lost too many workers, or was stopped since, is given up."""
    worker = worker_of(row.holder)
    stopped = row.repository.state == RepositoryState.STOPPED
    if stopped or row.claims >= MOST_CLAIMS:
        said = (
            f"the repository was stopped, and the worker {worker} vanished while it tried it"
            if stopped
            else f"{row.claims} workers vanished while they tried it, the last one {worker}"
        )
        move(
            row,
            EvaluationState.DONE,
            holder__is=row.holder,
            reason=Reason.BROKEN_HOST.value,
            sentence=said,
            finished_at=timezone.now(),
        )
        stop_if_spent(row.repository)
    else:
        move(
            row,
            EvaluationState.QUEUED,
            holder__is=row.holder,
            holder="",
            phase="",
            heartbeat_at=None,
        )
