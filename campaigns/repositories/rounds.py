"""The rounds of repositories: the next one, one whose worker has ended, and when to stop (R49)."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.processes import worker_of
from campaigns.models import EvaluationState, RepositoryState
from campaigns.models.campaign import queue_of
from campaigns.models.transitions import move
from campaigns.repositories.models import Repository, RepositoryRound
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.measuring.claims import give_back, is_vanished
from campaigns.steps.measuring.results import MOST_CLAIMS
from campaigns.steps.notify import WORKER_EXPIRES_S, send_after_commit
from knowledge.curation.errors import Forbidden

MAY_RUN = "campaigns.change_campaign"
MOST_REGRESSIONS = 5
SLOWER = frozenset({Reason.SLOWER, Reason.CLASS_REGRESSED})


def stop_repository(repository: Repository, by: Any = None) -> bool:
    """Stop it; rounds that wait are not tried. False where it was stopped before.

    by: the account that asks, None for a command on this host. Raises Forbidden.
    """
    if by is not None and not by.has_perm(MAY_RUN):
        raise Forbidden("stopping a repository needs the role engineer or lead")
    who = by.get_username() if by is not None else "a command"
    return _stop(repository, f"stopped by {who}")


def stop_if_spent(repository: Repository) -> None:
    """Stop it where its baseline failed, or its last five rounds were all slower."""
    done = repository.rounds.filter(state=EvaluationState.DONE).order_by("-number")
    if not repository.noise:
        _stop(repository, f"the baseline cannot be measured: {done[0].sentence}")
        return
    last = list(done[:MOST_REGRESSIONS])
    if len(last) == MOST_REGRESSIONS and all(row.reason in SLOWER for row in last):
        told = "; ".join(f"round {row.number}: {row.title}" for row in last)
        _stop(repository, f"{MOST_REGRESSIONS} rounds in a row were slower ({told})")


def _stop(repository: Repository, sentence: str) -> bool:
    if repository.state == RepositoryState.STOPPED:
        return False
    return move(repository, RepositoryState.STOPPED, stop_sentence=sentence)


def release_rounds() -> list[RepositoryRound]:
    """Rounds to try next, one of each repository. Run at worker start and a few times a minute.

    A round whose worker vanished is queued again; one that has lost too many workers, or was
    stopped since, is given up.
    """
    for row in _rounds(EvaluationState.RUNNING):
        if not is_vanished(row):
            continue
        worker = worker_of(row.holder)
        stopped = row.repository.state == RepositoryState.STOPPED
        if not stopped and row.claims < MOST_CLAIMS:
            give_back(row)
            continue
        said = f"{row.claims} workers vanished while they tried it, the last one {worker}"
        if stopped:
            said = f"the repository was stopped, and the worker {worker} vanished while it tried it"
        move(
            row,
            EvaluationState.DONE,
            holder__is=row.holder,
            reason=Reason.BROKEN_HOST.value,
            sentence=said,
            finished_at=timezone.now(),
        )
        stop_if_spent(row.repository)
    return next_rounds()


def next_rounds() -> list[RepositoryRound]:
    """The first round that waits of each repository in which none is tried now."""
    is_open = {"repository__state": RepositoryState.OPEN}
    busy = {row.repository_id for row in _rounds(EvaluationState.RUNNING, **is_open)}
    found: dict[int, RepositoryRound] = {}
    for row in _rounds(EvaluationState.QUEUED, **is_open).order_by("number"):
        if row.repository_id not in busy:
            found.setdefault(row.repository_id, row)
    return list(found.values())


def _rounds(state: EvaluationState, **more: Any) -> QuerySet[RepositoryRound]:
    rows = RepositoryRound.objects.select_related("repository__platform")
    return rows.filter(state=state, **more)


def notify_round(row: RepositoryRound) -> None:
    """Notify a worker that a round of a repository waits. Expires soon; reconcile repeats it."""
    queue = queue_of(row.repository.platform)
    send_after_commit("campaigns.tasks.repository_round", row.pk, queue, WORKER_EXPIRES_S)


def notify_next_round(row: Repository) -> None:
    """Notify a worker of the first round that waits in a repository, if there is one."""
    waiting = row.rounds.filter(state=EvaluationState.QUEUED).order_by("number").first()
    if waiting is not None:
        notify_round(waiting)
