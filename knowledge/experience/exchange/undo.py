"""Take an import back as one: its attempts are withdrawn and its lessons retracted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import LONGEST_BATCH_REASON, Conflict, Forbidden, require_reason
from knowledge.curation.people import may_review
from knowledge.experience.attempts.standing import StandingChange, change_standing
from knowledge.experience.lessons.weigh import index_gaps, index_lessons, reweigh
from knowledge.models import (
    Adoption,
    EntryStanding,
    Experience,
    ExperienceAction,
    ExperienceImport,
    Gap,
    GapState,
    ImportState,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonState,
)

NAMED = 5


def undo_import(batch: ExperienceImport, by: Any, why: str) -> None:
    """Withdraw what an import brought; people still find it, and nothing counts it.

    by: who brought it in, a curator, or None for a command. Raises Forbidden, CurationError without
    a reason, and Conflict where something rests on it by now.
    """
    if by is not None and by != batch.author and not may_review(by):
        raise Forbidden("undoing an import needs its author, or the role curator or lead")
    reason = require_reason(why, LONGEST_BATCH_REASON)
    with transaction.atomic():
        found = ExperienceImport.objects.select_for_update().get(pk=batch.pk)
        if found.state != ImportState.CONFIRMED:
            state = found.get_state_display()
            raise Conflict(f"{found} is {state}; only a confirmed import can be undone")
        built = list(_built_upon(found))
        if built:
            more = f"; and {len(built) - NAMED} more" if len(built) > NAMED else ""
            raise Conflict(f"built upon since: {'; '.join(built[:NAMED])}{more}")
        words = f"{found} was undone: {reason}"
        _withdraw(found, by, words)
        _retract(found, by, words)
        _close(found, by, words)
        who = by.get_username() if by is not None else "a command"
        plan = found.plan | {"undone_by": who, "undone_at": timezone.now().isoformat()}
        ExperienceImport.objects.filter(pk=found.pk).update(
            state=ImportState.UNDONE, why=reason, plan=plan
        )
    batch.refresh_from_db()


def _built_upon(batch: ExperienceImport) -> Iterator[str]:
    """What rests on this import by now, each in a few words."""
    entries, lessons = batch.entries.values("pk"), batch.lessons.values("pk")
    for used in Adoption.objects.filter(entry__in=entries).distinct():
        yield str(used)
    for used in Adoption.objects.filter(lesson__in=lessons).distinct():
        yield str(used)
    # What the program itself found to agree is only counted anew.
    cited = LessonEvidence.objects.filter(entry__in=entries).exclude(by=None)
    for evidence in cited.exclude(lesson__in=lessons).select_related("lesson"):
        yield f'the lesson "{evidence.lesson}" cites {evidence.entry.uuid}'
    merged = Experience.objects.filter(merged_into__in=entries).exclude(pk__in=entries)
    for other in merged.select_related("merged_into"):
        yield f"{other.uuid} is merged into {other.merged_into.uuid if other.merged_into else ''}"
    answered = Gap.objects.filter(lesson__in=lessons) | Gap.objects.filter(entry__in=entries)
    for gap in answered.distinct():
        yield f'it answers the question "{gap}"'


def _withdraw(batch: ExperienceImport, by: Any, words: str) -> None:
    by_standing: dict[str, list[Experience]] = defaultdict(list)
    for entry in batch.entries.exclude(standing=EntryStanding.WITHDRAWN).order_by("pk"):
        by_standing[entry.standing].append(entry)
    for standing, entries in by_standing.items():
        change = StandingChange(
            ExperienceAction.WITHDRAWN, EntryStanding(standing), EntryStanding.WITHDRAWN
        )
        change_standing(entries, change, by, words)
        reweigh(entries)


def _retract(batch: ExperienceImport, by: Any, words: str) -> None:
    lessons = list(batch.lessons.exclude(state=LessonState.RETRACTED))
    Lesson.objects.filter(pk__in=[lesson.pk for lesson in lessons]).update(
        state=LessonState.RETRACTED
    )
    for lesson in lessons:
        lesson.state = LessonState.RETRACTED
    LessonChange.objects.bulk_create(
        LessonChange(lesson=lesson, state=lesson.state, by=by, why=words) for lesson in lessons
    )
    index_lessons(lessons)


def _close(batch: ExperienceImport, by: Any, words: str) -> None:
    gaps = Gap.objects.filter(pk__in=batch.plan.get("gaps", []), state=GapState.OPEN)
    keys = list(gaps.values_list("pk", flat=True))
    closed = {"state": GapState.CLOSED, "closed_by": by, "closed_at": timezone.now(), "why": words}
    gaps.update(**closed)
    index_gaps(Gap.objects.filter(pk__in=keys))
