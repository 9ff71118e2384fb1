"""Approve, return, retract and restore lessons: a second person's decisions (R41)."""

from __future__ import annotations

from typing import Any

from knowledge.curation.errors import Conflict, Forbidden
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.curation.wording import require_reason, require_storable
from knowledge.experience.lessons.hold import enter, held, require_second_person, require_state
from knowledge.models import EntryStanding, Lesson, LessonSource, LessonState

# What these rest on is an archive or the flow's own findings; others have to show an attempt.
WITHOUT_ENTRIES = (LessonSource.IMPORTED, LessonSource.REFUSED_TRICK)


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
