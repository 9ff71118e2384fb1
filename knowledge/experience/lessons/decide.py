"""A lesson proposed, edited, decided on by another person, and recorded by itself (R41)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.experience.lessons.new import (
    NewLesson,
    checked,
    entries_of,
    project_of_entries,
    rewritten,
)
from knowledge.experience.lessons.weigh import index_lessons, recount
from knowledge.models import (
    Batch,
    EntryStanding,
    Experience,
    Lesson,
    LessonChange,
    LessonEvidence,
    LessonSource,
    LessonState,
    NoticeKind,
    Notification,
)

MOST_OF_CAMPAIGN = 5  # R41
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
            first = "somebody else was first"
            if last is not None:
                at = timezone.localtime(last.at, timezone.get_default_timezone())
                first = f"{last.who} was first: {last.done} at {at:%Y-%m-%d %H:%M:%S} UTC"
            raise Conflict(f"{first}; look again before you decide")
        yield
        index_lessons([lesson])


def enter(lesson: Lesson, state: LessonState, by: Any, why: str) -> None:
    """Change the state and write it down; only of a lesson that is held."""
    before, lesson.state = lesson.state, state
    lesson.save(update_fields=["state"])
    LessonChange.objects.create(
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


@contextmanager
def _decided(lesson: Lesson, by: Any, seen: int | None) -> Iterator[None]:
    """A proposal held for a second person, who may decide on it."""
    if by is None:
        raise Forbidden("a person decides on lessons; agents and commands propose them")
    require_reviewer(by)
    with held(lesson, seen):
        if brought_by(lesson, by):
            raise Forbidden("you proposed this lesson, so another curator decides on it")
        require_state(lesson, LessonState.PROPOSED)
        yield


def approve_lesson(lesson: Lesson, by: Any, why: str = "", *, seen: int | None = None) -> Lesson:
    """Let machines read it: an anti-pattern where it says what to avoid, else active.

    seen: the newest change that its reader saw. Raises Forbidden (no curator, its author, or no
    person at all) and Conflict (somebody was first, or nothing supports it).
    """
    with _decided(lesson, by, seen):
        require_storable("why", why)
        rests = lesson.evidence.filter(agrees=True, entry__standing=EntryStanding.COUNTS)
        if lesson.source not in WITHOUT_ENTRIES and not rests.exists():
            raise Conflict("the lesson rests on no attempt; its author adds one first")
        state = LessonState.ANTI_PATTERN if lesson.avoid else LessonState.ACTIVE
        enter(lesson, state, by, why)
        Notification.objects.tell_author(lesson, NoticeKind.APPROVED, by, why)
    return lesson


def return_lesson(lesson: Lesson, by: Any, why: str, *, seen: int | None = None) -> Lesson:
    """Give a proposal back to its author with a reason."""
    with _decided(lesson, by, seen):
        enter(lesson, LessonState.RETURNED, by, require_reason(why))
        Notification.objects.tell_author(lesson, NoticeKind.RETURNED, by, why)
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


def propose_lesson(new: NewLesson, by: Any, *, batch: Batch | None = None) -> Lesson:
    """Store a proposed lesson. by: the user, or None for the flow and for commands.

    Raises Forbidden, and CurationError naming the field and what is accepted.
    """
    require_proposer(by)
    plain, entries = checked(new), entries_of(new.evidence)
    project = project_of_entries(entries)
    learnt = (entry.campaign for entry in entries if entry.track.project)
    with transaction.atomic():
        if plain.campaign is not None and plain.source == LessonSource.CAMPAIGN:
            kept = Lesson.objects.filter(campaign=plain.campaign, source=plain.source)
            if kept.exclude(state=LessonState.RETRACTED).count() >= MOST_OF_CAMPAIGN:
                message = f"campaign {plain.campaign} has {MOST_OF_CAMPAIGN} lessons"
                accepted = "accepted: edit or retract one of them"
                raise CurationError("campaign", f"{message}; {accepted}")
        lesson = Lesson.objects.create(
            **plain.columns,
            source=plain.source,
            campaign=next(learnt, plain.campaign),
            project=project,
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
    with _own(lesson, by, seen):
        require_state(lesson, LessonState.PROPOSED, LessonState.RETURNED)
        old = rewritten(lesson).columns
        after = {name: text for name, text in plain.columns.items() if old[name] != text}
        before = {name: old[name] for name in after}
        known = set(lesson.evidence.values_list("entry", flat=True))
        fresh = [entry for entry in entries if entry.pk not in known]
        if not after and not fresh:
            raise CurationError("takeaway", "nothing was changed")
        if project_of_entries(fresh, lesson.project) != lesson.project:
            raise CurationError("evidence", "attempts of a project; accepted: the team's own")
        if fresh:
            after["evidence"] = ", ".join(str(entry.uuid) for entry in fresh)
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
    with _own(lesson, by, seen):
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


@contextmanager
def _own(lesson: Lesson, by: Any, seen: int | None) -> Iterator[None]:
    """A lesson held for its author."""
    with held(lesson, seen):
        if lesson.proposed_by != by:
            raise Forbidden("only its author changes a proposed lesson")
        yield


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
            project=project_of_entries(entries),
            defaults=plain.columns
            | {"state": LessonState.ANTI_PATTERN, "campaign": plain.campaign},
        )
        if is_new:
            LessonChange.objects.create(lesson=lesson, state=lesson.state, why=reason)
        rest_on(lesson, entries, None)
        index_lessons([lesson])
    return lesson
