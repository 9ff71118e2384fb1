"""Lessons and gaps as they stand in the search index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knowledge.models import Gap, GapState, Kind, Lesson
from knowledge.search.index import Entry, put

AT_ONCE = 2_000


def index_lessons(lessons: Iterable[Lesson]) -> None:
    """Put these lessons into the index; those that machines do not read are marked."""
    put(_lesson(lesson) for lesson in lessons)


def index_gaps(gaps: Iterable[Gap]) -> None:
    """Put these questions into the index; closed ones are marked."""
    put(_gap(gap) for gap in gaps)


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
