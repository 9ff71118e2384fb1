"""Lessons as a list: by scope, state and words, each with the newest attempt it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from django.db.models import OuterRef, Q, QuerySet, Subquery

from knowledge.experience.lessons.ask import holding
from knowledge.experience.lessons.new import LONGEST
from knowledge.experience.wording import gain_words
from knowledge.models import IN_USE, Experience, Lesson, LessonEvidence, LessonState
from knowledge.search.tokens import words_of

ALL = "all"
STATES = ["", ALL, *LessonState.values]  # "" is in use
MOST_WORDS = 12
BY_SCOPE = ("op", "backend", "platform", "arch")


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
    """Those that hold where the filters say, the most specific and best confirmed first."""
    rows = Lesson.objects.all()
    if filters.state != ALL:
        rows = rows.filter(state__in=[filters.state] if filters.state else IN_USE)
    for word in words_of(filters.q)[:MOST_WORDS]:
        said = (Q(**{f"{name}__icontains": word}) for name in (*LONGEST, "strategy"))
        any_of = Q()
        for each in said:
            any_of |= each
        rows = rows.filter(any_of)
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
