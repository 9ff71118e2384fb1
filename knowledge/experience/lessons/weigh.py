"""How much evidence a lesson has, counted anew, and its row in the search index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.db import transaction
from django.db.models import Count, Q

from knowledge.curation.store import chunks
from knowledge.experience.terms import AttemptLabel
from knowledge.models import (
    IN_USE,
    ConflictState,
    Disagreement,
    EntryStanding,
    Experience,
    Gap,
    GapState,
    Kind,
    Lesson,
    LessonEvidence,
    TrackRecord,
)
from knowledge.models.sight import NO_PROJECT
from knowledge.search.index import Entry, remove, upsert

AT_ONCE = 2_000
FAILED = (AttemptLabel.REGRESSION, AttemptLabel.INCORRECT)


def index_lessons(lessons: Iterable[Lesson]) -> None:
    """Put these lessons into the index; those that machines do not read are marked.

    What belongs to a project leaves it: the index is everybody's.
    """
    listed = list(lessons)
    remove((Kind.LESSON, str(lesson.pk)) for lesson in listed if lesson.project)
    upsert(_lesson(lesson) for lesson in listed if not lesson.project)


def index_gaps(gaps: Iterable[Gap]) -> None:
    """Put these questions into the index; closed ones are marked."""
    upsert(_gap(gap) for gap in gaps)


def all_lessons() -> Iterator[Entry]:
    """Every lesson."""
    yield from map(_lesson, Lesson.objects.iterator(AT_ONCE))


def all_gaps() -> Iterator[Entry]:
    """Every question."""
    yield from map(_gap, Gap.objects.iterator(AT_ONCE))


def _lesson(lesson: Lesson) -> Entry:
    shown = {"outcome": "failed" if lesson.avoid else "worked"}
    if not lesson.in_use:
        shown = {"standing": lesson.state}
    return Entry(
        kind=Kind.LESSON,
        key=str(lesson.pk),
        url=lesson.get_absolute_url(),
        title=str(lesson),
        body="\n".join((lesson.takeaway, lesson.signal, lesson.context, lesson.applicability)),
        facets=lesson.scope | shown,
        weight=float(max(lesson.confirmed - lesson.contradicted, 0)) if lesson.in_use else 0.0,
        also=f"{lesson.get_state_display()} {lesson.strategy}",
    )


def _gap(gap: Gap) -> Entry:
    closed = {"standing": gap.state} if gap.state == GapState.CLOSED else {}
    return Entry(
        kind=Kind.GAP,
        key=str(gap.pk),
        url=gap.get_absolute_url(),
        title=str(gap),
        body=gap.question,
        facets=gap.scope | closed,
        also=f"{gap.query} {gap.get_state_display()}",
    )


def weigh_lessons(entries: Iterable[Experience]) -> None:
    """Hold new entries against the lessons on their strategy; a contradiction asks for a review.

    An attempt without a change says nothing about what to do, and confirms what to avoid.
    """
    counting = [each for each in entries if each.standing == EntryStanding.COUNTS]
    with transaction.atomic():
        for some in chunks([each for each in counting if each.track.strategy]):
            strategies = {entry.track.strategy for entry in some}
            lessons = Lesson.objects.select_for_update().filter(state__in=IN_USE)
            listed = list(lessons.filter(strategy__in=strategies).order_by("pk"))
            known = LessonEvidence.objects.filter(lesson__in=listed, entry__in=some)
            weighed = set(known.values_list("lesson", "entry"))
            found = [
                LessonEvidence(lesson=lesson, entry=entry, agrees=said)
                for lesson in listed
                for entry in some
                if covers(lesson, entry.track)
                and (lesson.pk, entry.pk) not in weighed
                and (said := agrees(lesson, entry)) is not None
            ]
            LessonEvidence.objects.bulk_create(found, ignore_conflicts=True)
            # One open question a lesson; what contradicts it further is counted there.
            first = {each.lesson_id: each for each in reversed(found) if not each.agrees}
            asked = Disagreement.objects.filter(lesson__in=first, state=ConflictState.OPEN)
            for key in asked.values_list("lesson", flat=True):
                first.pop(key, None)
            Disagreement.objects.bulk_create(
                (Disagreement(first=each.entry, lesson=each.lesson) for each in first.values()),
                ignore_conflicts=True,
            )
            touched = {each.lesson_id: each.lesson for each in found}
            recount(list(touched.values()))
            index_lessons(touched.values())


def recount(lessons: Sequence[Lesson]) -> None:
    """Count anew what confirms and what contradicts these lessons, of the entries that count.

    A project's entries count for its own lessons alone.

    Run it in a transaction: whoever counts one lesson at the same time waits.
    """
    for lesson in lessons:
        own = (NO_PROJECT, lesson.project)
        counts = Q(entry__standing=EntryStanding.COUNTS, entry__track__project__in=own)
        Lesson.objects.select_for_update().get(pk=lesson.pk)
        found = lesson.evidence.aggregate(
            confirmed=Count("pk", filter=counts & Q(agrees=True)),
            contradicted=Count("pk", filter=counts & Q(agrees=False)),
        )
        Lesson.objects.filter(pk=lesson.pk).update(**found)
        lesson.confirmed, lesson.contradicted = found["confirmed"], found["contradicted"]


def reweigh(entries: Iterable[Experience]) -> None:
    """Count the lessons on these entries anew, as the entries count no longer, or again."""
    with transaction.atomic():
        for some in chunks(list(entries)):
            lessons = Lesson.objects.filter(evidence__entry__in=some).distinct()
            listed = list(lessons.order_by("pk"))
            recount(listed)
            index_lessons(listed)


def covers(lesson: Lesson, track: TrackRecord) -> bool:
    """Whether this context is in the lesson's scope, and of its project or of none."""
    if track.project not in (NO_PROJECT, lesson.project):
        return False
    return all(getattr(track, name) == wanted for name, wanted in lesson.scope.items())


def agrees(lesson: Lesson, entry: Experience) -> bool | None:
    """Whether the entry confirms the lesson; None where it says nothing."""
    label = AttemptLabel(entry.label)
    if lesson.avoid:
        return not label.worked
    if label.worked:
        return True
    return False if label in FAILED else None
