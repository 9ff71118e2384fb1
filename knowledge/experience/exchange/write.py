"""What confirming an import of experience stores, and how an undo withdraws it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.utils import timezone

from knowledge.curation.people import may_review
from knowledge.exchange.batches import ImportKind, close
from knowledge.experience.attempts.index import index_entries
from knowledge.experience.attempts.record import record_attempts
from knowledge.experience.attempts.standing import StandingChange, change_standing, refresh
from knowledge.experience.exchange.work_out import WorkedOut, require_ready, work_out
from knowledge.experience.lessons.weigh import index_gaps, index_lessons, recount, reweigh
from knowledge.experience.readers.drafts import AttemptDraft
from knowledge.models import (
    Adoption,
    Batch,
    BatchKind,
    EntryStanding,
    Experience,
    ExperienceAction,
    Gap,
    GapState,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonSource,
    LessonState,
)

BACK = StandingChange(
    ExperienceAction.UNMASKED, EntryStanding.WITHDRAWN, EntryStanding.COUNTS
)  # with an import that brings it again


def _ready(batch: Batch) -> WorkedOut:
    worked = work_out(batch.files, batch.answers)
    require_ready(worked)
    return worked


def _take(batch: Batch, by: Any, worked: WorkedOut) -> dict[str, int]:
    """Store attempts, lessons and questions; how many of each.

    A curator's import approves its lessons; that of an engineer or of a command proposes them.
    """
    entries = record_attempts((new for _, new in worked.new), by=batch.author, batch=batch)
    _point([draft for draft, _ in worked.new], entries)
    if worked.back:
        back = change_standing(worked.back, BACK, by, f"it came again with {batch}")
        Experience.objects.filter(pk__in=[entry.pk for entry in back]).update(batch=batch)
        reweigh(back)
        entries += back
    lessons = _lessons(worked, batch, by)
    gaps = []
    for draft in worked.gaps:
        columns: dict[str, Any] = {"uuid": draft.uuid} if draft.uuid else {}
        if draft.state != "open":
            columns["closed_at"] = timezone.now()
        said = {"question": draft.question, "query": draft.query, "state": draft.state}
        columns |= {**said, "why": draft.why, "asked_by": batch.author, **draft.names}
        gaps.append(Gap.objects.create(**columns))
    index_gaps(gaps)
    made = {"attempts": len(entries), "lessons": len(lessons), "questions": len(gaps)}
    close(batch, **worked.plan, made=made, gaps=[gap.pk for gap in gaps])
    return made


def _point(drafts: Sequence[AttemptDraft], made: Sequence[Experience]) -> None:
    """Give merged entries their pointer, as far as what they point at is here."""
    pairs = [pair for pair in zip(drafts, made, strict=True) if pair[0].merged_into]
    wanted = {draft.merged_into for draft, _ in pairs}
    targets = {str(each.uuid): each for each in Experience.objects.filter(uuid__in=wanted)}
    moved = []
    for draft, entry in pairs:
        target = targets.get(draft.merged_into)
        if target is not None and target.pk != entry.pk:
            entry.standing, entry.merged_into = EntryStanding.MERGED, target
            entry.save(update_fields=["standing", "merged_into"])
            moved.append(entry)
    refresh(entry.track_id for entry in moved)
    index_entries(moved)


def _lessons(worked: WorkedOut, batch: Batch, by: Any) -> list[Lesson]:
    approve = by is not None and may_review(by)
    made = []
    for draft, new in worked.lessons:
        if draft.state in (LessonState.RETRACTED, LessonState.RETURNED):
            state = LessonState(draft.state)  # as it was there
        elif not approve or draft.state == LessonState.PROPOSED:
            state = LessonState.PROPOSED
        else:
            state = LessonState.ANTI_PATTERN if new.avoid else LessonState.ACTIVE
        columns: dict[str, Any] = new.columns | ({"uuid": draft.uuid} if draft.uuid else {})
        columns |= {"source": LessonSource.IMPORTED, "proposed_by": batch.author}
        made.append(Lesson.objects.create(**columns, state=state, batch=batch))
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


def _built_upon(batch: Batch) -> Iterator[str]:
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


def _take_back(batch: Batch, by: Any, words: str) -> None:
    """People still find what it brought, and nothing counts it."""
    by_standing: dict[str, list[Experience]] = defaultdict(list)
    for entry in batch.entries.exclude(standing=EntryStanding.WITHDRAWN).order_by("pk"):
        by_standing[entry.standing].append(entry)
    for standing, entries in by_standing.items():
        change = StandingChange(
            ExperienceAction.WITHDRAWN, EntryStanding(standing), EntryStanding.WITHDRAWN
        )
        change_standing(entries, change, by, words)
        reweigh(entries)
    lessons = list(batch.lessons.exclude(state=LessonState.RETRACTED))
    for lesson in lessons:
        lesson.state = LessonState.RETRACTED
    Lesson.objects.bulk_update(lessons, ["state"])
    LessonChange.objects.bulk_create(
        LessonChange(lesson=lesson, state=lesson.state, by=by, why=words) for lesson in lessons
    )
    index_lessons(lessons)
    gaps = Gap.objects.filter(pk__in=batch.plan.get("gaps", []), state=GapState.OPEN)
    keys = list(gaps.values_list("pk", flat=True))
    closed = {"state": GapState.CLOSED, "closed_by": by, "closed_at": timezone.now(), "why": words}
    gaps.update(**closed)
    index_gaps(Gap.objects.filter(pk__in=keys))


EXPERIENCE = ImportKind(
    BatchKind.EXPERIENCE, _ready, _take, _built_upon, _take_back, author_may_undo=True
)
