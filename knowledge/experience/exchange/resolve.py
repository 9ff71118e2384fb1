"""Drafts with our names: what an import would store, what it would skip, and what it has to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.curation.errors import CurationError
from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.exchange.naming import AVOID, LEAVE_OUT, LONGEST, NameBook
from knowledge.experience.lessons.new import NewLesson, checked
from knowledge.experience.readers.drafts import (
    AttemptDraft,
    GapDraft,
    LessonDraft,
    ReadFault,
    ReadFiles,
    SkippedRow,
)
from knowledge.experience.terms import Bottleneck
from knowledge.models import ExperienceOrigin, LessonSource

NO_STRATEGY = "leave it unknown; it is never grouped"
NO_OP = "leave it unknown"


@dataclass(slots=True)
class ResolvedImport:
    """What the files hold in our words."""

    attempts: list[tuple[AttemptDraft, NewExperience]] = field(default_factory=list)
    lessons: list[tuple[LessonDraft, NewLesson]] = field(default_factory=list)
    gaps: list[GapDraft] = field(default_factory=list)
    left_out: list[SkippedRow] = field(default_factory=list)
    faults: list[ReadFault] = field(default_factory=list)


def resolve(read: ReadFiles, book: NameBook) -> ResolvedImport:
    """All drafts in our words. What cannot be stored is among the faults."""
    found = ResolvedImport(gaps=read.gaps, left_out=list(read.left_out), faults=list(read.faults))
    for draft in read.attempts:
        try:
            found.attempts.append((draft, _attempt(draft, book)))
        except CurationError as error:
            found.faults.append(ReadFault(draft.file, draft.line, error.field, error.message))
    for lesson in read.lessons:
        _take_lesson(found, lesson, book)
    return found


def _attempt(draft: AttemptDraft, book: NameBook) -> NewExperience:
    values = dict(draft.values)
    if draft.ours:
        own: dict[str, Any] = dict(draft.names) | {
            "bottleneck": Bottleneck(draft.names["bottleneck"])
        }
        return NewExperience(origin=ExperienceOrigin.IMPORTED, **own, **values)
    said, at, about = draft.names, draft.place, draft.about
    for name in ("op", "strategy"):
        if not said.get(name):
            book.blank(name, at, about, NO_STRATEGY if name == "strategy" else NO_OP)
    backend = book.name("backend", said.get("backend", ""), at, about)
    platform, arch = book.place(said.get("platform", ""), at, about)
    bottleneck = book.name("bottleneck", said.get("bottleneck", ""), at, about)
    names: dict[str, Any] = {
        "op": book.name("op", said.get("op", ""), at, about),
        "dtype": book.name("dtype", said.get("dtype", ""), at, about),
        "backend": backend,
        "platform": platform,
        "strategy": book.strategy(said.get("strategy", ""), backend, at, about),
    }
    _require_short(names)
    values.setdefault("named", said.get("strategy", "")[:300])
    return NewExperience(
        origin=ExperienceOrigin.IMPORTED,
        arch=arch,
        bottleneck=_bottleneck(bottleneck),
        **names,
        **values,
    )


def _bottleneck(name: str) -> Bottleneck:
    """A name that a person keeps is none of ours: unknown."""
    known = {each.value for each in Bottleneck}
    return Bottleneck(name) if name in known else Bottleneck.UNKNOWN


def _take_lesson(found: ResolvedImport, draft: LessonDraft, book: NameBook) -> None:
    avoid = draft.avoid
    if draft.cached:
        answer = book.cached(draft.place, draft.about)
        if answer == LEAVE_OUT:
            why = f"left out by an answer: {draft.cached}"
            found.left_out.append(SkippedRow(draft.file, draft.line, draft.about, why))
            return
        avoid = avoid or answer == AVOID
    try:
        found.lessons.append((draft, checked(_lesson(draft, book, avoid))))
    except CurationError as error:
        found.faults.append(ReadFault(draft.file, draft.line, error.field, error.message))


def _lesson(draft: LessonDraft, book: NameBook, avoid: bool) -> NewLesson:
    scope: Mapping[str, Any] = draft.names
    if not draft.ours:
        at, about = draft.place, draft.about
        platform, arch = book.place(draft.names.get("platform", ""), at, about)
        named = {
            name: book.name(name, draft.names.get(name, ""), at, about)
            for name in ("op", "dtype", "backend")
        }
        scope = named | {"platform": platform, "arch": arch}
    _require_short(scope)
    return NewLesson(
        context=draft.context,
        signal=draft.signal,
        takeaway=draft.takeaway,
        applicability=draft.applicability,
        avoid=avoid,
        source=LessonSource.IMPORTED,
        **scope,
    )


def _require_short(names: Mapping[str, str]) -> None:
    for name, text in names.items():
        most = LONGEST.get(name, 120)
        if len(text) > most:
            raise CurationError(name, f"{len(text)} characters; accepted: at most {most}")
