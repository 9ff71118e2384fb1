"""Lessons as pages list them: their state, who must act next, whether their hardware changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from django.db.models import OuterRef, Q, QuerySet, Subquery

from knowledge.experience.lessons.ask import holding
from knowledge.experience.lessons.new import LONGEST
from knowledge.experience.wording import gain_words
from knowledge.models import (
    IN_USE,
    ConflictState,
    Disagreement,
    EntryStanding,
    Experience,
    Lesson,
    LessonEvidence,
    LessonState,
)
from knowledge.search.tokens import words_of

ALL = "all"
STATES = ["", ALL, *LessonState.values]  # "" is in use
MOST_WORDS = 12
BY_SCOPE = ("op", "backend", "platform", "arch")
VERSIONS = ("compiler", "driver")


@dataclass(frozen=True, slots=True)
class LessonFilters:
    """What a list is narrowed by; "" is any, and of a state: in use."""

    op: str = ""
    backend: str = ""
    platform: str = ""
    arch: str = ""
    state: str = ""
    q: str = ""

    @property
    def set(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class LessonCard:
    """A lesson in four lines. entry: the newest attempt that it rests on."""

    lesson: Lesson
    entry: Experience | None

    @property
    def gain(self) -> str:
        return entry_words(self.entry) if self.entry else ""


def entry_words(entry: Experience) -> str:
    """Its effect and against what, or that there was none to measure."""
    if entry.gain is None:
        return entry.get_label_display()
    words = gain_words(entry.gain, entry.gain_low, entry.gain_high)
    return f"{words} against {entry.baseline or 'the incumbent'}"


def lessons_matching(filters: LessonFilters) -> QuerySet[Lesson]:
    """The lessons in the scope of the filters, the most specific and best confirmed first."""
    rows = Lesson.objects.all()
    if filters.state != ALL:
        rows = rows.filter(state__in=[filters.state] if filters.state else IN_USE)
    for word in words_of(filters.q)[:MOST_WORDS]:
        said = {f"{name}__icontains": word for name in (*LONGEST, "strategy")}
        rows = rows.filter(Q(**said, _connector=Q.OR))
    return holding(rows, {name: value for name, value in filters.set.items() if name in BY_SCOPE})


def left_out(filters: LessonFilters) -> list[tuple[str, str, int]]:
    """(filter, its value, lessons without it) of each filter that alone left some out."""
    found = []
    for name, value in filters.set.items():
        wider = lessons_matching(replace(filters, **{name: ALL if name == "state" else ""}))
        if count := wider.count():
            found.append((name, value, count))
    return found


def cards(lessons: Iterable[Lesson]) -> list[LessonCard]:
    """The lessons with the newest attempts that they rest on; two queries for all of them."""
    listed = list(lessons)
    newest = LessonEvidence.objects.filter(lesson=OuterRef("pk"), agrees=True).order_by("-pk")
    rows = Lesson.objects.filter(pk__in=[lesson.pk for lesson in listed])
    keys = dict(rows.order_by().values_list("pk", Subquery(newest.values("entry")[:1])))
    entries = Experience.objects.select_related("track").in_bulk(filter(None, keys.values()))
    return [LessonCard(each, entries.get(keys.get(each.pk) or 0)) for each in listed]


@dataclass(frozen=True, slots=True)
class NewerVersion:
    """A compiler or driver that newer attempts on the platform use in place of the entry's own."""

    name: str
    own: str
    platform: str
    newest: str


def newer_versions(entry: Experience) -> list[NewerVersion]:
    """What differs from the newest measured attempt on the same platform and backend.

    Empty where nothing differs, nothing newer was measured, or the versions are not known.
    """
    track = entry.track
    if not track.platform:
        return []
    newer = Experience.objects.filter(
        track__platform=track.platform,
        track__backend=track.backend,
        standing=EntryStanding.COUNTS,
        happened_at__gt=entry.happened_at,
    ).order_by("-happened_at")
    found = []
    for name in VERSIONS:
        own = getattr(entry, name)
        now = newer.exclude(**{name: ""}).values_list(name, flat=True).first() if own else None
        if now and now != own:
            found.append(NewerVersion(name, own, track.platform, now))
    return found


def proposed_lessons() -> QuerySet[Lesson]:
    """The oldest first."""
    rows = Lesson.objects.filter(state=LessonState.PROPOSED)
    return rows.select_related("proposed_by").order_by("pk")


def open_disagreements() -> QuerySet[Disagreement]:
    """The oldest first, each with its two sides."""
    rows = Disagreement.objects.filter(state=ConflictState.OPEN)
    return rows.select_related("first__track", "second__track", "lesson").order_by("pk")


def newer_versions_of_lesson(lesson: Lesson) -> list[NewerVersion]:
    """What has changed since the newest attempt that supports the lesson; empty where nothing."""
    rests = lesson.evidence.filter(agrees=True, entry__standing=EntryStanding.COUNTS)
    newest = rests.select_related("entry__track").order_by("-entry__happened_at").first()
    return newer_versions(newest.entry) if newest else []
