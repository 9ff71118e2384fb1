"""Work out what files would do: what is new, here already, or could be merged, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.exchange.naming import NameBook, NameQuestion
from knowledge.experience.exchange.resolve import ResolvedImport, resolve
from knowledge.experience.exchange.twins import (
    entries_by_origin,
    entries_by_uuid,
    gaps_here,
    lesson_texts,
    lessons_here,
    origin_key,
    same_ideas,
)
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.readers.drafts import AttemptDraft, GapDraft, LessonDraft
from knowledge.experience.readers.recognise import read_files
from knowledge.models import EntryStanding, Experience

UNNAMED = 100  # attempts without a strategy that a plan offers to name
LISTED = 500  # rows that a plan names; it counts the others
Row = dict[str, str]


@dataclass(slots=True)
class WorkedOut:
    """What confirming would store, and the plan that says so.

    back: withdrawn entries that count again. unnamed: attempts that name no strategy.
    """

    format: str = ""
    new: list[tuple[AttemptDraft, NewExperience]] = field(default_factory=list)
    back: list[Experience] = field(default_factory=list)
    lessons: list[tuple[LessonDraft, NewLesson]] = field(default_factory=list)
    gaps: list[GapDraft] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    questions: list[NameQuestion] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    unnamed: list[Row] = field(default_factory=list)

    @property
    def open(self) -> list[NameQuestion]:
        """The questions that nobody has answered yet."""
        return [question for question in self.questions if not question.answer]

    @property
    def plan(self) -> dict[str, Any]:
        """As it is stored and shown: what needs a look first."""
        counts = Counter(row["outcome"] for row in self.rows)
        order = ("error", "skip", "merge candidate", "back", "create")
        rows = sorted(self.rows, key=lambda row: order.index(row["outcome"]))
        return {
            "counts": {name: counts[name] for name in reversed(order) if counts[name]},
            "kinds": dict(Counter(row["kind"] for row in self.rows if row["outcome"] in MADE)),
            "questions": [question.stored() for question in self.questions],
            "rows": rows[:LISTED],
            "unnamed": self.unnamed[:UNNAMED],
            "more": max(0, len(rows) - LISTED),
        }


MADE = ("create", "merge candidate", "back")


def work_out(files: Mapping[str, str], answers: Mapping[str, str]) -> WorkedOut:
    """Read the files and compare them with what is here. Nothing is stored."""
    read = read_files(files)
    book = NameBook(answers)
    resolved = resolve(read, book)
    found = WorkedOut(
        format=read.formats[0] if len(read.formats) == 1 else "mixed" if read.formats else "",
        faults=[str(fault) for fault in resolved.faults],
        questions=list(book.questions.values()),
    )
    for fault in resolved.faults:
        at = f"{fault.file}:L{fault.line}"
        said = f"{fault.field}: {fault.message}" if fault.field else fault.message
        found.rows.append(_row("row", at, "error", "", said))
    for left in resolved.left_out:
        found.rows.append(_row("row", left.place, "skip", left.about, left.why))
    for draft in read.attempts:
        if not draft.ours and not draft.names.get("strategy"):
            key = f"strategy@{draft.place}"
            answer = answers.get(key, "")
            found.unnamed.append(
                {"key": key, "at": draft.place, "what": draft.about, "answer": answer}
            )
    _attempts(found, resolved)
    _lessons(found, resolved)
    _gaps(found, resolved)
    return found


def _attempts(found: WorkedOut, resolved: ResolvedImport) -> None:
    known = entries_by_uuid(new.uuid for _, new in resolved.attempts)
    earlier = entries_by_origin([new for _, new in resolved.attempts])
    seen: dict[str, str] = {}
    ideas: dict[tuple[str, ...], str] = {}
    fresh: list[tuple[AttemptDraft, NewExperience]] = []
    for draft, new in resolved.attempts:
        twin = known.get(new.uuid) or (earlier.get(origin_key(new)) if new.external else None)
        if new.uuid and new.uuid in seen:
            why = f"its UUID stands at {seen[new.uuid]} already"
            found.rows.append(_row("attempt", draft.place, "skip", draft.about, why))
        elif twin is not None and twin.standing == EntryStanding.WITHDRAWN:
            found.back.append(twin)
            why = f"withdrawn before; {twin.uuid} counts again"
            found.rows.append(_row("attempt", draft.place, "back", draft.about, why))
        elif twin is not None:
            why = f"here already as {twin.uuid}"
            found.rows.append(_row("attempt", draft.place, "skip", draft.about, why))
        else:
            fresh.append((draft, new))
        seen.setdefault(new.uuid, draft.place)
    same = same_ideas([new for _, new in fresh])
    for at, (draft, new) in enumerate(fresh):
        idea = (new.op, new.backend, new.platform, new.arch, new.change)
        told = new.change and not draft.ours
        first = ideas.setdefault(idea, draft.place) if told else draft.place
        why = f"the same idea as {same[at]}" if at in same else ""
        if not why and first != draft.place:
            why = f"the same hypothesis as {first}"
        outcome = "merge candidate" if why else "create"
        found.new.append((draft, new))
        found.rows.append(_row("attempt", draft.place, outcome, draft.about, why))


def _lessons(found: WorkedOut, resolved: ResolvedImport) -> None:
    known = lessons_here(draft.uuid for draft, _ in resolved.lessons)
    texts: dict[tuple[str, ...], str] = {
        key: f"here already as {lesson.uuid}" for key, lesson in lesson_texts().items()
    }
    for draft, new in resolved.lessons:
        key = (new.takeaway, new.op, new.backend, new.platform, new.arch)
        why = f"here already as {draft.uuid}" if draft.uuid in known else texts.get(key, "")
        if not why:
            found.lessons.append((draft, new))
            texts[key] = f"says the same as {draft.place}"
        about = f"avoid: {draft.about}" if new.avoid else draft.about
        found.rows.append(_row("lesson", draft.place, "skip" if why else "create", about, why))


def _gaps(found: WorkedOut, resolved: ResolvedImport) -> None:
    known = gaps_here(gap.uuid for gap in resolved.gaps)
    for gap in resolved.gaps:
        why = f"here already as {gap.uuid}" if gap.uuid in known else ""
        if not why:
            found.gaps.append(gap)
            known.add(gap.uuid)
        outcome = "skip" if why else "create"
        found.rows.append(_row("question", gap.place, outcome, gap.question[:160], why))


def _row(kind: str, at: str, outcome: str, what: str, why: str) -> Row:
    return {"kind": kind, "at": at, "outcome": outcome, "what": what, "why": why}
