"""One person at a time changes a lesson; whoever comes second is told who was first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import Conflict, Forbidden
from knowledge.experience.indexed.lessons import index_lessons
from knowledge.models import Lesson, LessonChange, LessonState


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
