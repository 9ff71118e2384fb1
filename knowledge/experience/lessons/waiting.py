"""What waits for a decision: proposed lessons and open disagreements."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from knowledge.curation.people import may_review
from knowledge.models import ConflictState, Disagreement, Lesson, LessonState


def proposed_lessons() -> QuerySet[Lesson]:
    """The oldest first."""
    rows = Lesson.objects.filter(state=LessonState.PROPOSED)
    return rows.select_related("proposed_by").order_by("pk")


def open_disagreements() -> QuerySet[Disagreement]:
    """The oldest first, each with its two sides."""
    rows = Disagreement.objects.filter(state=ConflictState.OPEN)
    return rows.select_related("first__track", "second__track", "lesson").order_by("pk")


def to_decide(person: Any) -> int:
    """How many of both this person may decide."""
    if not may_review(person):
        return 0
    lessons = proposed_lessons().exclude(proposed_by=person).count()
    return lessons + open_disagreements().exclude(lesson__proposed_by=person).count()
