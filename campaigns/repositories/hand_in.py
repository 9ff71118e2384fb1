"""What people and agents hand in: a repository with its harness, and changes (R9, R17, R51)."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction

from campaigns.devices.turns import turn
from campaigns.evaluator.contract.backends import BACKEND_OF
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.lineage.git import LineageError
from campaigns.models import EvaluationState, RepositoryState, Submitter
from campaigns.problems.shipped import UnknownProblem
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.repositories.models import Repository, RepositoryRound
from campaigns.repositories.own_repository import OwnRepository, PatchRefused
from campaigns.repositories.rounds import MAY_RUN
from campaigns.rules.harness.description import Harness, HarnessError, read_harness
from campaigns.rules.stop.ladder import MENDABLE, MOST_REPAIRS
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.problems import public_problem
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
    and what is not committed there is not seen. Raises RepositoryRefused, Forbidden, TooManyAtOnce;
    nothing is stored then. Whoever calls it notifies a worker.
    """
    if by is not None and not by.has_perm(MAY_RUN):
        raise Forbidden("bringing a repository needs the role engineer or lead")
    try:
        described = read_harness(harness)
    except HarnessError as error:
        raise RepositoryRefused("harness", str(error).removeprefix("harness: ")) from None
    if revision.startswith("-") or not revision.strip():
        raise RepositoryRefused("revision", f"{revision!r:.60}; accepted: a branch, tag or commit")
    # git may take minutes for a bundle, in which no transaction is open, and no row has a key yet.
    brought = OwnRepository(uuid.uuid4().int)
    try:
        with turn(by):
            base = brought.bring(path, revision)
        _require_files(brought.files(base), described)
        with transaction.atomic():
            row = Repository.objects.create(
                title=described.name,
                source=(source or str(path))[-LONGEST_SOURCE:],
                harness=harness,
                platform=platform,
                created_by=by,
                base=base,
                head=base,
            )
            row.branch = f"kopt/{described.name}-{row.pk}"
            row.save(update_fields=["branch"])
            own = OwnRepository(row.pk)
            shutil.rmtree(own.path, ignore_errors=True)
            brought.path.rename(own.path)
            own.begin(row.branch, base)
            RepositoryRound.objects.create(
                repository=row, number=1, title="Baseline: the repository as it was brought"
            )
    except LineageError as error:
        raise RepositoryRefused("repository", str(error)) from None
    finally:
        shutil.rmtree(brought.path, ignore_errors=True)
    return row


def _require_files(paths: Collection[str], harness: Harness) -> None:
    """Some file may be changed, and some other stays: the harness itself is not to be optimised.

    Of a proof, the problem is known, and the file is one of a backend.
    """
    free = [path for path in paths if harness.may_change(path)]
    if not free:
        told = ", ".join(harness.change)
        raise RepositoryRefused("files.change", f"no file of the repository matches {told}")
    if len(free) == len(paths):
        raise RepositoryRefused(
            "files.change", "every file matches; accepted: not those of tests and benchmarks"
        )
    if harness.proof is None:
        return
    try:
        public_problem(harness.proof.problem)
    except (UnknownProblem, ProblemError) as error:
        raise RepositoryRefused("proof.problem", str(error)) from None
    file = harness.proof.file
    if file not in paths or PurePosixPath(file).suffix not in BACKEND_OF:
        accepted = f"a file of the repository that ends in {', '.join(BACKEND_OF)}"
        raise RepositoryRefused("proof.file", f"{file!r}; accepted: {accepted}")


def add_bundle(chunks: Iterable[bytes], *told: Any, **options: Any) -> Repository:
    """Bring a bundle that was sent, as `add_repository` does with one that lies in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "repository.bundle")
        with path.open("wb") as file:
            file.writelines(chunks)
        return add_repository(path, *told, **options)


LARGEST_PATCH = 1 << 20
LONGEST = {"title": 200, "change": 2_000, "rationale": 4_000, "target": 300}
NEEDED = ("title", "change", "rationale")


@dataclass(frozen=True, slots=True)
class HandedChange:
    """A hypothesis, and the patch that tests it: a diff against the incumbent, as git writes it.

    target: the config class that is to gain; "" for all. repairs: the number of a round that
    failed, of which this is another try.
    """

    title: str
    change: str
    rationale: str
    patch: str
    target: str = ""
    repairs: int | None = None


def hand_in_change(
    repository: Repository, handed: HandedChange, kind: str, name: str, by: Any = None
) -> RepositoryRound:
    """Store it as the next round. Whoever calls it notifies a worker.

    kind: "person" or "agent"; name: whose it is; by: the account, None for a command on this host.
    Raises RepositoryRefused, which names the field, and Forbidden. Nothing is stored then.
    """
    if by is not None and not by.has_perm(MAY_RUN):
        raise Forbidden("handing in a change needs the role engineer or lead")
    if kind not in Submitter.values or not name.strip():
        raise RepositoryRefused("kind", f"accepted: {', '.join(Submitter.values)}, with a name")
    _check_texts(handed)
    with transaction.atomic():
        found = Repository.objects.select_for_update().get(pk=repository.pk)
        if found.state != RepositoryState.OPEN:
            raise RepositoryRefused("repository", f"takes no change: {found.stop_sentence}")
        rounds = list(found.rounds.order_by("number"))
        mended = _mended(rounds, handed.repairs)
        classes = [one["name"] for one in rounds[0].result.get("classes", ())]
        target = handed.target.strip()
        if target and classes and target not in classes:
            said = f"{handed.target!r}; accepted: {', '.join(classes):.500}"
            raise RepositoryRefused("target", said)
        _require_lawful(found, handed.patch)
        _require_new(rounds, handed, mended)
        return RepositoryRound.objects.create(
            repository=found,
            number=rounds[-1].number + 1,
            title=handed.title.strip(),
            change=handed.change.strip(),
            rationale=handed.rationale.strip(),
            target=target,
            patch=handed.patch,
            repairs=mended,
            kind=kind,
            name=name.strip()[:150],
            by=by,
        )


def _check_texts(handed: HandedChange) -> None:
    for field, most in LONGEST.items():
        text = getattr(handed, field)
        if "\0" in text or len(text) > most:
            raise RepositoryRefused(field, f"accepted: text of at most {most} characters")
        if field in NEEDED and not text.strip():
            raise RepositoryRefused(field, "is missing; a round begins with its hypothesis")
    if not handed.patch.strip() or len(handed.patch) > LARGEST_PATCH or "\0" in handed.patch:
        raise RepositoryRefused("patch", "accepted: a diff of `git diff`, of at most 1 MiB")


def _mended(rounds: list[RepositoryRound], number: int | None) -> RepositoryRound | None:
    """The round that is repaired; at most three repairs follow upon one idea."""
    if number is None:
        return None
    row = next((row for row in rounds if row.number == number), None)
    if row is None or row.is_baseline or row.state != EvaluationState.DONE:
        raise RepositoryRefused("repairs", f"round {number}; accepted: a round that failed")
    if Reason(row.reason) not in MENDABLE:
        raise RepositoryRefused(
            "repairs", f"round {number} is {row.doing}; accepted: one that failed, not one timed"
        )
    depth, first = 1, row
    while first.repairs is not None:
        depth, first = depth + 1, first.repairs
    if depth > MOST_REPAIRS:
        raise RepositoryRefused("repairs", f"round {first.number} had {MOST_REPAIRS} repairs")
    return row


def _require_lawful(repository: Repository, patch: str) -> None:
    """The patch applies to the incumbent, and changes only what a round may change."""
    own, harness = OwnRepository(repository.pk), repository.described
    try:
        changed = own.changed(repository.head, own.patched(repository.head, patch))
    except PatchRefused as error:
        raise RepositoryRefused("patch", str(error).removeprefix("patch: ")) from None
    except LineageError as error:
        raise RepositoryRefused("repository", str(error)) from None
    if not changed:
        raise RepositoryRefused("patch", "changes nothing")
    for path in changed:
        if not harness.may_change(path):
            told = ", ".join(harness.change)
            raise RepositoryRefused("patch", f"changes {path}; accepted: files that match {told}")


def _require_new(
    rounds: list[RepositoryRound], handed: HandedChange, mended: RepositoryRound | None
) -> None:
    """Neither the same patch nor, unless it repairs one, the same idea as an earlier round's."""
    for row in rounds[1:]:
        if row.reason == Reason.BROKEN_HOST:
            continue
        if row.patch.split() == handed.patch.split():
            raise RepositoryRefused("patch", f"round {row.number} had the same one")
        same = row.change.casefold().split() == handed.change.casefold().split()
        if same and mended is None:
            raise RepositoryRefused("change", f"round {row.number} tried the same change")
