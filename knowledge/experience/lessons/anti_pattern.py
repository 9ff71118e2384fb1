"""A trick that the judge refused becomes an anti-pattern by itself (R41; W2, W3)."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from knowledge.curation.wording import require_reason
from knowledge.experience.indexed.lessons import index_lessons
from knowledge.experience.lessons.new import NewLesson, checked, entries_of
from knowledge.experience.lessons.propose import rest_on
from knowledge.models import Lesson, LessonChange, LessonSource, LessonState


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
