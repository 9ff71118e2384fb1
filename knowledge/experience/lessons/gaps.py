"""Questions that nobody has answered: asked, answered by a lesson or an attempt, or closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import (
    Conflict,
    CurationError,
    Forbidden,
    require_reason,
    require_storable,
)
from knowledge.curation.people import may_review, require_proposer
from knowledge.experience.lessons.ask import nearest
from knowledge.experience.lessons.weigh import index_gaps
from knowledge.models import EntryStanding, Experience, Gap, GapState, Lesson

LONGEST_QUESTION, LONGEST_QUERY = 1000, 500
LOOKED_AT, MOST_NEAR = 500, 3


@dataclass(frozen=True, slots=True)
class NewGap:
    """A question that is not stored yet. query: the search without a hit that it comes from."""

    question: str
    query: str = ""
    op: str = ""
    dtype: str = ""
    backend: str = ""
    platform: str = ""
    arch: str = ""
    strategy: str = ""


def ask_gap(new: NewGap, by: Any) -> Gap:
    """Store an open question. CurationError names the field and what is accepted."""
    require_proposer(by)
    question = new.question.replace("\r\n", "\n").strip()
    if not question:
        raise CurationError("question", "it is empty; accepted: what you would like to know")
    require_storable("question", question, LONGEST_QUESTION)
    require_storable("query", new.query, LONGEST_QUERY)
    scope = {name: " ".join(getattr(new, name).split()) for name in Gap.SCOPE}
    for name, value in scope.items():
        require_storable(name, value, Gap.longest(name))
    with transaction.atomic():
        gap = Gap.objects.create(question=question, query=new.query, asked_by=by, **scope)
        index_gaps([gap])
    return gap


def near_gaps(question: str) -> list[Gap]:
    """Questions that ask nearly the same, open or answered, the nearest first."""
    known = Gap.objects.exclude(state=GapState.CLOSED)[:LOOKED_AT]
    return nearest(question, known, lambda gap: gap.question, MOST_NEAR)


def answer_gap(
    gap: Gap,
    by: Any,
    why: str = "",
    *,
    lesson: Lesson | None = None,
    entry: Experience | None = None,
) -> Gap:
    """Answer it with a lesson in use or an attempt that counts; exactly one of them."""
    require_proposer(by)
    require_storable("why", why)
    if (lesson is None) == (entry is None):
        raise CurationError("answer", "accepted: one lesson or one attempt")
    if lesson is not None and not lesson.in_use:
        raise CurationError(
            "answer", f"the lesson is {lesson.get_state_display()}; accepted: one that is approved"
        )
    if entry is not None and entry.standing != EntryStanding.COUNTS:
        raise CurationError(
            "answer", f"the attempt is {entry.get_standing_display()}; accepted: one that counts"
        )
    return _settle(gap, GapState.ANSWERED, by, why=why, lesson=lesson, entry=entry)


def close_gap(gap: Gap, by: Any, why: str) -> Gap:
    """Close it unanswered, with a reason: who asked it may, and every curator."""
    require_proposer(by)
    reason = require_reason(why)
    if by is not None and by != gap.asked_by and not may_review(by):
        raise Forbidden("closing needs who asked it, or the role curator or lead")
    return _settle(gap, GapState.CLOSED, by, why=reason)


def _settle(gap: Gap, state: GapState, by: Any, **columns: Any) -> Gap:
    settled = {"state": state, "closed_by": by, "closed_at": timezone.now(), **columns}
    with transaction.atomic():
        taken = Gap.objects.filter(pk=gap.pk, state=GapState.OPEN).update(**settled)
        gap.refresh_from_db()
        if not taken:
            raise Conflict(f"{gap.closer} was first: the question is {gap.get_state_display()}")
        index_gaps([gap])
    return gap
