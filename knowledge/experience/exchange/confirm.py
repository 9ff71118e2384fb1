"""Carry a planned import out, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from knowledge.curation.people import may_review
from knowledge.experience.attempts.index import index_entries
from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.attempts.standing import StandingChange, change_standing, refresh
from knowledge.experience.exchange.plan import deciding, require_ready, settle
from knowledge.experience.exchange.work_out import WorkedOut, work_out
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.lessons.weigh import index_gaps, index_lessons, recount, reweigh
from knowledge.experience.readers.drafts import AttemptDraft, GapDraft, LessonDraft
from knowledge.models import (
    EntryStanding,
    Experience,
    ExperienceAction,
    ExperienceImport,
    Gap,
    ImportState,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonSource,
    LessonState,
)

BACK = StandingChange(
    ExperienceAction.UNMASKED, EntryStanding.WITHDRAWN, EntryStanding.COUNTS
)  # with an import that brings it again


def confirm_import(batch: ExperienceImport, by: Any) -> dict[str, int]:
    """Do what was planned; how many attempts, lessons and questions were stored.

    by: the user, or None for a command. A curator's import approves its lessons; that of an
    engineer or of a command proposes them. Raises Forbidden, Conflict (decided already), and
    CurationError for a broken row and for a question without an answer; nothing is stored then.
    """
    with deciding(batch, by) as found:
        worked = work_out(found.files, found.answers)
        require_ready(worked)
        entries = _entries(worked, found, by)
        lessons = _lessons(worked, found, by)
        gaps = [_gap(draft, found) for draft in worked.gaps]
        index_gaps(gaps)
        made = {"attempts": len(entries), "lessons": len(lessons), "questions": len(gaps)}
        plan = worked.plan | {"made": made, "gaps": [gap.pk for gap in gaps]}
        settle(found, ImportState.CONFIRMED, by, plan=plan)
    batch.refresh_from_db()
    return made


def _entries(worked: WorkedOut, batch: ExperienceImport, by: Any) -> list[Experience]:
    made = record_attempts((new for _, new in worked.new), by=batch.author, batch=batch)
    _point([draft for draft, _ in worked.new], made)
    if worked.back:
        back = change_standing(worked.back, BACK, by, f"it came again with {batch}")
        Experience.objects.filter(pk__in=[entry.pk for entry in back]).update(batch=batch)
        reweigh(back)
        made += back
    return made


def _point(drafts: Sequence[AttemptDraft], made: Sequence[Experience]) -> None:
    """Give merged entries their pointer, as far as what they point at is here."""
    pairs = [pair for pair in zip(drafts, made, strict=True) if pair[0].merged_into]
    wanted = {draft.merged_into for draft, _ in pairs}
    targets = {str(each.uuid): each for each in Experience.objects.filter(uuid__in=wanted)}
    moved = []
    for draft, entry in pairs:
        target = targets.get(draft.merged_into)
        if target is None or target.pk == entry.pk:
            continue
        entry.standing, entry.merged_into = EntryStanding.MERGED, target
        Experience.objects.filter(pk=entry.pk).update(
            standing=EntryStanding.MERGED, merged_into=target
        )
        moved.append(entry)
    refresh(entry.track_id for entry in moved)
    index_entries(moved)


def _lessons(worked: WorkedOut, batch: ExperienceImport, by: Any) -> list[Lesson]:
    approve = by is not None and may_review(by)
    made = [_lesson(draft, new, batch, approve) for draft, new in worked.lessons]
    LessonChange.objects.bulk_create(
        LessonChange(lesson=lesson, state=lesson.state, by=by, why=f"with {batch}")
        for lesson in made
    )
    uuids = {uuid for draft, _ in worked.lessons for uuid in draft.evidence}
    entries = {str(each.uuid): each for each in Experience.objects.filter(uuid__in=uuids)}
    LessonEvidence.objects.bulk_create(
        LessonEvidence(lesson=lesson, entry=entries[uuid], agrees=agrees)
        for (draft, _), lesson in zip(worked.lessons, made, strict=True)
        for uuid, agrees in draft.evidence.items()
        if uuid in entries
    )
    recount(made)
    index_lessons(made)
    return made


def _lesson(draft: LessonDraft, new: NewLesson, batch: ExperienceImport, approve: bool) -> Lesson:
    columns: dict[str, Any] = dict(new.columns)
    if draft.uuid:
        columns["uuid"] = draft.uuid
    return Lesson.objects.create(
        **columns,
        state=_state(draft, new, approve),
        source=LessonSource.IMPORTED,
        batch=batch,
        proposed_by=batch.author,
    )


def _state(draft: LessonDraft, new: NewLesson, approve: bool) -> LessonState:
    """What was retracted or returned there stays so; what is in use here a curator decides."""
    if draft.state in (LessonState.RETRACTED, LessonState.RETURNED):
        return LessonState(draft.state)
    if not approve or draft.state == LessonState.PROPOSED:
        return LessonState.PROPOSED
    return LessonState.ANTI_PATTERN if new.avoid else LessonState.ACTIVE


def _gap(draft: GapDraft, batch: ExperienceImport) -> Gap:
    columns: dict[str, Any] = {"uuid": draft.uuid} if draft.uuid else {}
    if draft.state != "open":
        columns["closed_at"] = timezone.now()
    return Gap.objects.create(
        question=draft.question,
        query=draft.query,
        state=draft.state,
        why=draft.why,
        asked_by=batch.author,
        **draft.names,
        **columns,
    )
