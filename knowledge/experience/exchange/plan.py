"""Plan an import, answer its questions, or drop it. Nothing but the plan is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import (
    LONGEST_BATCH_REASON,
    Conflict,
    CurationError,
    Forbidden,
    require_storable,
)
from knowledge.curation.people import may_propose, may_review, require_proposer
from knowledge.experience.exchange.naming import KEEP, require_answer
from knowledge.experience.exchange.work_out import WorkedOut, work_out
from knowledge.experience.readers.recognise import ACCEPTED
from knowledge.models import ExperienceImport, ImportState

LONGEST_ORIGIN = 120


def plan_import(
    files: Mapping[str, str], by: Any, *, origin: str = "", answers: Mapping[str, str] | None = None
) -> ExperienceImport:
    """Store a plan of importing these files, path → text. No attempt and no lesson is written.

    by: the user, or None for a command. Raises Forbidden, and CurationError where no file holds
    anything that is recognised.
    """
    require_proposer(by)
    name = require_storable("origin", origin.strip() or "upload", LONGEST_ORIGIN)
    if not files:
        raise CurationError("files", f"none; accepted: {ACCEPTED}")
    said = dict(answers or {})
    found = work_out(files, said)
    return ExperienceImport.objects.create(
        origin=name,
        format=found.format,
        files=dict(files),
        answers=said,
        plan=found.plan,
        author=by,
    )


def answer_questions(
    batch: ExperienceImport, answers: Mapping[str, str], by: Any, *, keep_others: bool = False
) -> ExperienceImport:
    """Say what names mean, key of the question → our name or `KEEP`, and plan anew.

    keep_others: everything without an answer stays as it is. A key `strategy@<file>:L<line>` names
    the strategy of one row. Raises Forbidden, Conflict and CurationError naming the field.
    """
    with deciding(batch, by) as found:
        asked = {question["key"]: question["field"] for question in found.plan["questions"]}
        said = dict(found.answers)
        for key, answer in answers.items():
            of_row = key.startswith("strategy@")
            if key not in asked and not of_row:
                raise CurationError("answers", f"'{key[:80]}' is not asked")
            said[key] = require_answer("strategy" if of_row else asked[key], answer)
        if keep_others:
            said |= {key: KEEP for key in asked if not said.get(key)}
        said = {key: answer for key, answer in said.items() if answer}
        worked = work_out(found.files, said)
        ExperienceImport.objects.filter(pk=found.pk).update(answers=said, plan=worked.plan)
    batch.refresh_from_db()
    return batch


def drop_import(batch: ExperienceImport, by: Any, why: str = "") -> None:
    """Forget the files of a plan; that there was one stays."""
    reason = require_storable("why", why.strip(), LONGEST_BATCH_REASON)
    with deciding(batch, by) as found:
        settle(found, ImportState.DROPPED, by, why=reason)
    batch.refresh_from_db()


def may_decide_import(batch: ExperienceImport, person: Any) -> bool:
    """Whether this user may answer, confirm or drop the plan: its author, or a curator."""
    return bool(may_propose(person) and (person == batch.author or may_review(person)))


@contextmanager
def deciding(batch: ExperienceImport, by: Any) -> Iterator[ExperienceImport]:
    """A transaction with the plan as it is now, which nobody else decides on meanwhile."""
    if by is not None and not may_decide_import(batch, by):
        raise Forbidden("deciding on an import needs its author, or the role curator or lead")
    with transaction.atomic():
        found = ExperienceImport.objects.select_for_update().get(pk=batch.pk)
        if found.state != ImportState.PLANNED:
            who = found.plan.get("decided_by", "somebody else")
            raise Conflict(f"{found} was {found.get_state_display()} by {who} already")
        yield found


def settle(batch: ExperienceImport, state: ImportState, by: Any, **columns: Any) -> None:
    """Write down who decided what; the files are no longer needed."""
    who = by.get_username() if by is not None else "a command"
    plan = batch.plan | {"decided_by": who} | columns.pop("plan", {})
    ExperienceImport.objects.filter(pk=batch.pk).update(
        state=state, files={}, plan=plan, decided_at=timezone.now(), **columns
    )


def require_ready(worked: WorkedOut) -> None:
    """CurationError for a plan with a broken row, or with a question that nobody has answered."""
    if worked.faults:
        more = f"; and {len(worked.faults) - 1} more" if len(worked.faults) > 1 else ""
        raise CurationError("files", f"{worked.faults[0]}{more}; nothing was imported")
    if worked.open:
        names = ", ".join(f"{each.field} '{each.name}'" for each in worked.open[:5])
        more = f" and {len(worked.open) - 5} more" if len(worked.open) > 5 else ""
        message = f"not answered: {names}{more}; accepted: one of ours for each, or {KEEP} to keep"
        raise CurationError("answers", message)
