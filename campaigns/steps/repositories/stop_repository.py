"""Stop optimising a repository: by a person, or after five regressions in a row (R49)."""

from __future__ import annotations

from typing import Any

from campaigns.models import EvaluationState, Repository, RepositoryState
from campaigns.models.transitions import move
from campaigns.rules.verdict.decision import Reason
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
