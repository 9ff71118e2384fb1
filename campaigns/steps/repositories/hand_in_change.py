"""Take a change of a repository's files that a person or an agent hands in (R17, R51)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from campaigns.lineage.git import LineageError
from campaigns.lineage.own_repository import OwnRepository, PatchRefused
from campaigns.models import (
    EvaluationState,
    Repository,
    RepositoryRound,
    RepositoryState,
    Submitter,
)
from campaigns.rules.stop.ladder import MENDABLE, MOST_REPAIRS
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.repositories.add_repository import RepositoryRefused
from campaigns.steps.repositories.stop_repository import MAY_RUN
from knowledge.curation.errors import Forbidden

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
        _require_known_class(rounds[0], handed.target)
        _require_lawful(found, handed.patch)
        _require_new(rounds, handed, mended)
        return RepositoryRound.objects.create(
            repository=found,
            number=rounds[-1].number + 1,
            title=handed.title.strip(),
            change=handed.change.strip(),
            rationale=handed.rationale.strip(),
            target=handed.target.strip(),
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


def _require_known_class(baseline: RepositoryRound, target: str) -> None:
    classes = [one["name"] for one in baseline.result.get("classes", ())]
    if target.strip() and classes and target.strip() not in classes:
        raise RepositoryRefused("target", f"{target!r}; accepted: {', '.join(classes):.500}")


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
