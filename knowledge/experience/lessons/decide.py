"""Deciding on a lesson (R41): hold it for one reviewer, approve, return, retract, restore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import Conflict, Forbidden, require_reason, require_storable
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.experience.lessons.weigh import index_lessons
from knowledge.models import EntryStanding, Lesson, LessonChange, LessonSource, LessonState

# What these rest on is an archive or the flow's own findings; others have to show an attempt.
WITHOUT_ENTRIES = (LessonSource.IMPORTED, LessonSource.REFUSED_TRICK)


@contextmanager
def held(lesson: Lesson, seen: int | None = None) -> Iterator[None]:
    """A transaction in which nobody else changes this lesson, which is in the index afterwards.

    seen: the key of the newest change that its reader saw. Raises Conflict where the lesson is no
    longer as it was read.
    """
    before = lesson.state
    with transaction.atomic():
        Lesson.objects.select_for_update().get(pk=lesson.pk)
        lesson.refresh_from_db()
        last = lesson.changes.select_related("by").first()
        unseen = seen is not None and last is not None and last.pk != seen
        if lesson.state != before or unseen:
            raise Conflict(f"{who_was_first(last)}; look again before you decide")
        yield
        index_lessons([lesson])


def enter(lesson: Lesson, state: LessonState, by: Any, why: str) -> LessonChange:
    """Change the state and write it down; only of a lesson that is held."""
    before, lesson.state = lesson.state, state
    lesson.save(update_fields=["state"])
    return LessonChange.objects.create(
        lesson=lesson, state=state, by=by, why=why, before={"state": before}, after={"state": state}
    )


def require_state(lesson: Lesson, *accepted: LessonState) -> None:
    """Raise Conflict unless the lesson is in one of these states."""
    if lesson.state not in accepted:
        words = ", ".join(state.label for state in accepted)
        raise Conflict(f"the lesson is {lesson.get_state_display()}; accepted: {words}")


def brought_by(lesson: Lesson, person: Any) -> bool:
    """Whether this person ever proposed or restored it, so that another one has to decide."""
    proposals = lesson.changes.filter(by=person, state=LessonState.PROPOSED)
    return person is not None and (lesson.proposed_by == person or proposals.exists())


def require_second_person(lesson: Lesson, by: Any) -> None:
    """Raise Forbidden for whoever proposed or restored the lesson, ever."""
    if brought_by(lesson, by):
        raise Forbidden("you proposed this lesson, so another curator decides on it")


def who_was_first(change: LessonChange | None) -> str:
    """A line of history as a sentence: who, what, when."""
    if change is None:
        return "somebody else was first"
    at = timezone.localtime(change.at, timezone.get_default_timezone())
    return f"{change.who} was first: {change.done} at {at:%Y-%m-%d %H:%M:%S} UTC"


def approve_lesson(lesson: Lesson, by: Any, why: str = "", *, seen: int | None = None) -> Lesson:
    """Let machines read it: an anti-pattern where it says what to avoid, else active.

    seen: the newest change that its reader saw. Raises Forbidden (no curator, its author, or no
    person at all) and Conflict (somebody was first, or nothing supports it).
    """
    _require_person(by)
    require_reviewer(by)
    require_storable("why", why)
    with held(lesson, seen):
        require_second_person(lesson, by)
        require_state(lesson, LessonState.PROPOSED)
        _require_evidence(lesson)
        state = LessonState.ANTI_PATTERN if lesson.avoid else LessonState.ACTIVE
        enter(lesson, state, by, why)
    return lesson


def return_lesson(lesson: Lesson, by: Any, why: str, *, seen: int | None = None) -> Lesson:
    """Give a proposal back to its author with a reason."""
    _require_person(by)
    require_reviewer(by)
    reason = require_reason(why)
    with held(lesson, seen):
        require_second_person(lesson, by)
        require_state(lesson, LessonState.PROPOSED)
        enter(lesson, LessonState.RETURNED, by, reason)
    return lesson


def retract_lesson(lesson: Lesson, by: Any, why: str, *, seen: int | None = None) -> Lesson:
    """Take a lesson back with a reason; machines stop reading it and people still find it.

    Its author may take back what is not approved. by: None where an import is undone.
    """
    reason = require_reason(why)
    with held(lesson, seen):
        if by is None or by != lesson.proposed_by or lesson.in_use:
            require_reviewer(by)
        require_state(lesson, *(state for state in LessonState if state != LessonState.RETRACTED))
        enter(lesson, LessonState.RETRACTED, by, reason)
    return lesson


def restore(lesson: Lesson, by: Any, why: str, *, seen: int | None = None) -> Lesson:
    """Bring a retracted lesson back as a proposal, which another person has to approve."""
    require_proposer(by)
    reason = require_reason(why)
    with held(lesson, seen):
        require_state(lesson, LessonState.RETRACTED)
        enter(lesson, LessonState.PROPOSED, by, reason)
    return lesson


def _require_person(by: Any) -> None:
    if by is None:
        raise Forbidden("a person decides on lessons; agents and commands propose them")


def _require_evidence(lesson: Lesson) -> None:
    rests = lesson.evidence.filter(agrees=True, entry__standing=EntryStanding.COUNTS)
    if lesson.source not in WITHOUT_ENTRIES and not rests.exists():
        raise Conflict("the lesson rests on no attempt; its author adds one first")
