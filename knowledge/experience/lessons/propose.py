"""Propose a lesson, edit it and propose it again; a refused trick is proposed by itself (R41)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from knowledge.curation.errors import CurationError, Forbidden, require_reason, require_storable
from knowledge.curation.people import require_proposer
from knowledge.experience.lessons.decide import enter, held, require_state
from knowledge.experience.lessons.new import NewLesson, checked, entries_of, rewritten
from knowledge.experience.lessons.weigh import index_lessons, recount
from knowledge.models import (
    Batch,
    Experience,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonSource,
    LessonState,
)

MOST_OF_CAMPAIGN = 5  # R41


def propose_lesson(new: NewLesson, by: Any, *, batch: Batch | None = None) -> Lesson:
    """Store a proposed lesson. by: the user, or None for the flow and for commands.

    Raises Forbidden, and CurationError naming the field and what is accepted.
    """
    require_proposer(by)
    plain, entries = checked(new), entries_of(new.evidence)
    with transaction.atomic():
        _require_few(plain)
        lesson = Lesson.objects.create(
            **plain.columns,
            source=plain.source,
            campaign=plain.campaign,
            batch=batch,
            proposed_by=by,
        )
        LessonChange.objects.create(lesson=lesson, state=lesson.state, by=by)
        rest_on(lesson, entries, by)
        index_lessons([lesson])
    return lesson


def edit_lesson(
    lesson: Lesson, new: NewLesson, by: Any, why: str = "", *, seen: int | None = None
) -> Lesson:
    """Its author writes it anew before it is approved; evidence is added, never taken away.

    Raises Forbidden for anybody else, Conflict where it has been decided on, and CurationError.
    """
    require_proposer(by)
    require_storable("why", why)
    plain, entries = checked(new), entries_of(new.evidence)
    with held(lesson, seen):
        _require_author(lesson, by)
        require_state(lesson, LessonState.PROPOSED, LessonState.RETURNED)
        before, after = _changes(lesson, plain)
        fresh = _fresh(lesson, entries)
        if not after and not fresh:
            raise CurationError("takeaway", "nothing was changed")
        if fresh:
            after = after | {"evidence": ", ".join(str(entry.uuid) for entry in fresh)}
        Lesson.objects.filter(pk=lesson.pk).update(**plain.columns)
        lesson.refresh_from_db()
        LessonChange.objects.create(
            lesson=lesson, state=lesson.state, by=by, why=why, before=before, after=after
        )
        rest_on(lesson, fresh, by)
    return lesson


def resubmit(lesson: Lesson, by: Any, why: str, *, seen: int | None = None) -> Lesson:
    """The author's answer to a return: propose it again."""
    require_proposer(by)
    reason = require_reason(why)
    with held(lesson, seen):
        _require_author(lesson, by)
        require_state(lesson, LessonState.RETURNED)
        enter(lesson, LessonState.PROPOSED, by, reason)
    return lesson


def rest_on(lesson: Lesson, entries: Sequence[Experience], by: Any) -> None:
    """Write down that the lesson rests on these entries, and count anew."""
    LessonEvidence.objects.bulk_create(
        (LessonEvidence(lesson=lesson, entry=entry, agrees=True, by=by) for entry in entries),
        ignore_conflicts=True,
    )
    recount([lesson])


def _require_author(lesson: Lesson, by: Any) -> None:
    if lesson.proposed_by != by:
        raise Forbidden("only its author changes a proposed lesson")


def _require_few(new: NewLesson) -> None:
    if new.campaign is None or new.source != LessonSource.CAMPAIGN:
        return
    kept = Lesson.objects.filter(campaign=new.campaign, source=new.source)
    if kept.exclude(state=LessonState.RETRACTED).count() >= MOST_OF_CAMPAIGN:
        raise CurationError(
            "campaign",
            f"campaign {new.campaign} has {MOST_OF_CAMPAIGN} lessons; "
            "accepted: edit or retract one of them",
        )


def _changes(lesson: Lesson, new: NewLesson) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns that differ, as they were and as they are to be."""
    old = rewritten(lesson).columns
    changed = {name: text for name, text in new.columns.items() if old[name] != text}
    return {name: old[name] for name in changed}, changed


def _fresh(lesson: Lesson, entries: Sequence[Experience]) -> list[Experience]:
    known = set(lesson.evidence.values_list("entry", flat=True))
    return [entry for entry in entries if entry.pk not in known]


def record_anti_pattern(new: NewLesson, why: str) -> Lesson:
    """Store it, or add its evidence to the one of the same strategy and scope.

    One that a person has retracted stays retracted. why: what refused it.
    """
    reason = require_reason(why)
    plain = checked(replace(new, avoid=True, source=LessonSource.REFUSED_TRICK))
    entries = entries_of(plain.evidence)
    with transaction.atomic():
        lesson, is_new = Lesson.objects.get_or_create(
            source=plain.source,
            **plain.scope,
            defaults=plain.columns
            | {"state": LessonState.ANTI_PATTERN, "campaign": plain.campaign},
        )
        if is_new:
            LessonChange.objects.create(lesson=lesson, state=lesson.state, why=reason)
        rest_on(lesson, entries, None)
        index_lessons([lesson])
    return lesson
