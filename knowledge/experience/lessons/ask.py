"""The lessons for one context, and lessons that say nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When

from knowledge.models import IN_USE, Lesson, LessonState
from knowledge.search.tokens import words_of

Item = TypeVar("Item")

NEAR = 0.5  # shared words of all words of both
COMMON = {
    *("a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has", "have"),
    *("how", "if", "in", "is", "it", "of", "on", "or", "not", "than", "that", "the", "this", "to"),
    *("was", "what", "when", "where", "which", "with"),
}
LOOKED_AT = 500  # newest lessons that a new one is compared with
MOST_SIMILAR = 3


def nearness(first: str, second: str) -> float:
    """The share of words that both have, of the words of either; 1.0 is the same words."""
    one, other = set(words_of(first)) - COMMON, set(words_of(second)) - COMMON
    return len(one & other) / len(one | other) if one | other else 0.0


def nearest(
    text: str, items: Iterable[Item], text_of: Callable[[Item], str], most: int
) -> list[Item]:
    """The items whose text is near this one, the nearest first."""
    shares = [(nearness(text, text_of(item)), item) for item in items]
    ranked = sorted(shares, key=lambda pair: -pair[0])
    return [item for share, item in ranked[:most] if share >= NEAR]


def lessons_for(
    *, op: str, backend: str, platform: str, arch: str, dtype: str, limit: int = 5
) -> list[Lesson]:
    """What machines may read in this context: the most specific first, then the best confirmed.

    A lesson holds where each field of its scope is empty or the same; "" is unknown and meets only
    lessons without that field. Only a dtype that is not said may be any: tips elsewhere have none.
    """
    asked = {"op": op, "backend": backend, "platform": platform, "arch": arch}
    asked |= {"dtype": dtype} if dtype else {}
    return list(holding(Lesson.objects.filter(state__in=IN_USE), asked)[:limit])


def holding(lessons: QuerySet[Lesson], asked: Mapping[str, str]) -> QuerySet[Lesson]:
    """The lessons whose scope leaves these fields empty or equal, in the order of `lessons_for`."""
    specific = Value(0, output_field=IntegerField())
    for name, value in asked.items():
        lessons = lessons.filter(Q(**{name: ""}) | Q(**{name: value}))
        specific = specific + Case(When(**{name: ""}, then=0), default=1)  # type: ignore[assignment]
    ranked = lessons.annotate(specific=specific, trust=F("confirmed") - F("contradicted"))
    return ranked.order_by("-specific", "-trust", "-pk")


def similar_lessons(
    takeaway: str, *, strategy: str = "", besides: Lesson | None = None
) -> list[Lesson]:
    """Lessons that nobody retracted with nearly this takeaway, the nearest first."""
    known = Lesson.objects.exclude(state=LessonState.RETRACTED)
    if besides is not None:
        known = known.exclude(pk=besides.pk)

    def words(lesson: Lesson) -> str:
        return f"{lesson.takeaway} {lesson.strategy}"

    return nearest(f"{takeaway} {strategy}", known[:LOOKED_AT], words, MOST_SIMILAR)
