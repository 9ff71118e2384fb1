"""Bring a git repository that is to be optimised by its own harness; its baseline is round 1."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction

from campaigns.evaluator.backends.base import BACKEND_OF
from campaigns.evaluator.problem import ProblemError, load_problem
from campaigns.lineage.git import LineageError
from campaigns.lineage.own_repository import OwnRepository
from campaigns.models import Repository, RepositoryRound
from campaigns.problems.shipped import UnknownProblem
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.rules.harness.description import Harness, HarnessError, read_harness
from campaigns.steps.problems import find_problem
from campaigns.steps.repositories.stop_repository import MAY_RUN
from knowledge.curation.errors import Forbidden
from knowledge.models import Platform

LONGEST_SOURCE = 300
HEAD = "HEAD"


class RepositoryRefused(SubmissionRefused):
    """A repository that cannot be brought, or a change that cannot be handed in."""


def add_repository(
    path: Path,
    harness: str,
    platform: Platform,
    *,
    source: str = "",
    revision: str = HEAD,
    by: Any = None,
) -> Repository:
    """Fetch a revision of the repository, or of a bundle of one, at `path`; queue its baseline.

    harness: its description as TOML. source: where it came from, if that is not its path. by: the
    account that brings it, None for a command on this host. The repository at `path` is only read,
    and what is not committed there is not seen. Raises RepositoryRefused, Forbidden; nothing is
    stored then. Whoever calls it notifies a worker.
    """
    if by is not None and not by.has_perm(MAY_RUN):
        raise Forbidden("bringing a repository needs the role engineer or lead")
    described = _described(harness)
    if revision.startswith("-") or not revision.strip():
        raise RepositoryRefused("revision", f"{revision!r:.60}; accepted: a branch, tag or commit")
    with transaction.atomic():
        row = Repository.objects.create(
            title=described.name,
            source=(source or str(path))[-LONGEST_SOURCE:],
            harness=harness,
            platform=platform,
            created_by=by,
        )
        own = OwnRepository(row.pk)
        row.branch = f"kopt/{described.name}-{row.pk}"
        try:
            row.base = row.head = own.bring(path, revision)
            _require_files(own, row.base, described)
            _require_proof(own, row.base, described)
            own.begin(row.branch, row.base)
        except LineageError as error:
            raise RepositoryRefused("repository", str(error)) from None
        row.save(update_fields=["base", "head", "branch"])
        RepositoryRound.objects.create(
            repository=row, number=1, title="Baseline: the repository as it was brought"
        )
    return row


def _described(text: str) -> Harness:
    try:
        return read_harness(text)
    except HarnessError as error:
        raise RepositoryRefused("harness", str(error).removeprefix("harness: ")) from None


def _require_proof(own: OwnRepository, commit: str, harness: Harness) -> None:
    """The problem is known, and the file is one of a backend."""
    if harness.proof is None:
        return
    try:
        load_problem(find_problem(harness.proof.problem))
    except (UnknownProblem, ProblemError) as error:
        raise RepositoryRefused("proof.problem", str(error)) from None
    file = harness.proof.file
    if file not in own.files(commit) or PurePosixPath(file).suffix not in BACKEND_OF:
        accepted = f"a file of the repository that ends in {', '.join(BACKEND_OF)}"
        raise RepositoryRefused("proof.file", f"{file!r}; accepted: {accepted}")


def _require_files(own: OwnRepository, commit: str, harness: Harness) -> None:
    """Some file may be changed, and some other stays: the harness itself is not to be optimised."""
    paths = own.files(commit)
    if not any(harness.may_change(path) for path in paths):
        told = ", ".join(harness.change)
        raise RepositoryRefused("files.change", f"no file of the repository matches {told}")
    if all(harness.may_change(path) for path in paths):
        raise RepositoryRefused(
            "files.change", "every file matches; accepted: not those of tests and benchmarks"
        )
