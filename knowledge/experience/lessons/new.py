"""A lesson as it is written: four fields (R41), and the contexts that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from knowledge.curation.errors import CurationError, require_storable
from knowledge.experience.catalogue.names import catalogue_slug, place_of
from knowledge.experience.terms import FAMILIES
from knowledge.models import (
    EntryStanding,
    Experience,
    Lesson,
    LessonSource,
    Platform,
    Strategy,
    TrackRecord,
)
from knowledge.models.sight import NO_PROJECT
from knowledge.specs.metrics import DTYPES
from knowledge.specs.spellings import our_qualifier

# Field → the most characters, and what it says. Short records help more than long texts.
LONGEST = {"takeaway": 600, "context": 2000, "signal": 2000, "applicability": 1000}
MEANS = {
    "takeaway": "What to do, or not to do, next time",
    "context": "What was tried, and on what",
    "signal": "What was measured that says so: a counter, a time, a failure",
    "applicability": "Where it holds, and where it does not",
}
MOST_EVIDENCE = 50
MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class NewLesson:
    """A lesson that is not stored yet; see `knowledge.models.lesson.Lesson`.

    evidence: uuids of the entries that it rests on. avoid: it says what not to do.
    """

    context: str
    signal: str
    takeaway: str
    applicability: str
    avoid: bool = False
    op: str = ""
    dtype: str = ""
    backend: str = ""
    platform: str = ""
    arch: str = ""
    strategy: str = ""
    evidence: Sequence[str] = ()
    source: LessonSource = LessonSource.PERSON
    campaign: int | None = None

    @property
    def scope(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in Lesson.SCOPE}

    @property
    def columns(self) -> dict[str, str | bool]:
        """What an edit may change."""
        return {name: getattr(self, name) for name in LONGEST} | self.scope | {"avoid": self.avoid}


def checked(new: NewLesson) -> NewLesson:
    """The same without outer blanks, its strategy as the catalogue names it.

    An architecture follows from a platform of the wiki, as it does for attempts.
    CurationError names the field that is empty, too long or no database text.
    """
    found: dict[str, Any] = {}
    for name, most in LONGEST.items():
        text = getattr(new, name).replace("\r\n", "\n").strip()
        if not text:
            raise CurationError(name, f"it is empty; accepted: {MEANS[name].lower()}")
        found[name] = require_storable(name, text, most)
    for name in Lesson.SCOPE:
        said = " ".join(getattr(new, name).split())
        found[name] = require_storable(name, said, Lesson.longest(name))
    found["strategy"] = catalogue_slug(found["strategy"], found["backend"])
    if found["arch"]:
        found["arch"] = place_of(found["platform"], found["arch"]).arch
    return replace(new, **found)


def entries_of(uuids: Sequence[str]) -> list[Experience]:
    """The entries that count, in this order; one that was merged is the one that it is in now."""
    if len(uuids) > MOST_EVIDENCE:
        raise CurationError("evidence", f"{len(uuids)} entries; accepted: at most {MOST_EVIDENCE}")
    found: dict[int, Experience] = {}
    for text in uuids:
        try:
            entry = Experience.objects.select_related("track", "merged_into").get(uuid=UUID(text))
        except (ValueError, Experience.DoesNotExist):
            message = f"no entry '{text[:60]}'; accepted: the id of an attempt"
            raise CurationError("evidence", message) from None
        while entry.merged_into is not None:
            entry = entry.merged_into
        if entry.standing != EntryStanding.COUNTS:
            message = f"{entry.uuid} is {entry.standing}; accepted: attempts that count"
            raise CurationError("evidence", message)
        found[entry.pk] = entry
    return list(found.values())


def project_of_entries(entries: Iterable[Experience], own: int = NO_PROJECT) -> int:
    """The project that a lesson on these entries is of. own: the one that it is of already.

    Raises CurationError where one of them is of another project.
    """
    others = {entry.track.project for entry in entries} - {NO_PROJECT, own}
    if len(others) > (own == NO_PROJECT):
        raise CurationError("evidence", "attempts of different projects; accepted: of one, or none")
    return next(iter(others), own)


def rewritten(lesson: Lesson) -> NewLesson:
    """A stored lesson as it was written."""
    names = [each.name for each in fields(NewLesson) if each.name not in ("evidence", "source")]
    return NewLesson(
        **{name: getattr(lesson, name) for name in names}, source=LessonSource(lesson.source)
    )


def known_values(name: str) -> list[str]:
    """What a field of a scope usually is, sorted."""
    values: Iterable[str]
    if name == "op":
        values = [op for ops in FAMILIES.values() for op in ops]
    elif name == "dtype":
        values = DTYPES
    elif name in ("platform", "arch"):
        column = "slug" if name == "platform" else "target"
        values = Platform.objects.values_list(column, flat=True)
    else:
        column = "backend" if name == "backend" else "slug"
        values = Strategy.objects.filter(withdrawn=False).values_list(column, flat=True)
    return sorted({value for value in values if value})


def known_value(name: str, value: str) -> str:
    """Our spelling of the value; CurationError lists the near ones where nothing has this name.

    A scope that nothing can be in would never be found.
    """
    plain = our_qualifier(name, " ".join(value.split()))
    if name == "strategy":
        plain = catalogue_slug(plain, "")
    if not plain or TrackRecord.objects.filter(**{name: plain}).exists():
        return plain
    known = known_values(name)
    if plain in known:
        return plain
    near = get_close_matches(plain, known, MOST_LISTED) or known[:MOST_LISTED]
    more = ", …" if len(known) > len(near) else ""
    accepted = ", ".join(near) + more if near else f"a {name} of a recorded attempt"
    raise CurationError(name, f"nothing is known of '{plain[:60]}'; accepted: {accepted}")


def lesson_values(name: str) -> list[str]:
    """What the scopes of stored lessons name, for filters."""
    rows = Lesson.objects.order_by(name).values_list(name, flat=True).distinct()
    return [value for value in rows if value]
