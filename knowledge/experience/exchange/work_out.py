"""Work out what files would do: what is new, here already, or could be merged, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knowledge.curation.errors import CurationError
from knowledge.curation.store import chunks
from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.catalogue.names import load_names, place_of
from knowledge.experience.exchange.naming import (
    KEEP,
    LEAVE_OUT,
    UNREAD,
    NameBook,
    NameQuestion,
    ResolvedImport,
    resolve,
)
from knowledge.experience.lessons.new import NewLesson
from knowledge.experience.readers.drafts import (
    SHOWN,
    AttemptDraft,
    GapDraft,
    LessonDraft,
    SkippedRow,
)
from knowledge.experience.readers.recognise import MOST_FAULTS, read_files
from knowledge.experience.terms import idea_key
from knowledge.models import EntryStanding, Experience, Gap, Lesson, LessonState

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
        """The plan as it is stored and shown: what needs a look comes first."""
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
    faults = resolved.faults
    # One that ends its file hides others, and so may the last that is listed.
    single = len(faults) < MOST_FAULTS and all(each.is_row for each in faults)
    if single and book.unread(faults) == LEAVE_OUT:
        resolved.left_out += [
            SkippedRow(each.file, each.line, "", f"left out by an answer: {each.words}")
            for each in faults
        ]
        resolved.faults = []
    found = WorkedOut(
        format=read.formats[0] if len(read.formats) == 1 else "mixed" if read.formats else "",
        faults=[str(fault) for fault in resolved.faults],
        questions=list(book.questions.values()),
    )
    for fault in resolved.faults:
        found.rows.append(_row("row", fault.place, "error", "", fault.words))
    for left in resolved.left_out:
        found.rows.append(_row("row", left.place, "skip", left.about, left.why))
    for draft in read.attempts:
        if not draft.ours and not draft.names.get("strategy"):
            key = f"strategy@{draft.place}"
            told = {"at": draft.place, "what": draft.about, "answer": answers.get(key, "")}
            found.unnamed.append({"key": key, **told})
    _attempts(found, resolved)
    _lessons(found, resolved)
    _gaps(found, resolved)
    return found


def require_ready(worked: WorkedOut) -> None:
    """CurationError for a plan with a broken row, or with a question that nobody has answered."""
    if worked.faults:
        more = f"; and {len(worked.faults) - 1} more" if len(worked.faults) > 1 else ""
        left = "; --leave-out leaves these out, and so does the answer to 'rows' on the page"
        can = left if any(each.key == UNREAD for each in worked.questions) else ""
        raise CurationError("files", f"{worked.faults[0]}{more}; nothing was imported{can}")
    if worked.open:
        names = ", ".join(f"{each.field} '{each.name}'" for each in worked.open[:5])
        more = f" and {len(worked.open) - 5} more" if len(worked.open) > 5 else ""
        message = f"not answered: {names}{more}; accepted: one of ours for each, or {KEEP} to keep"
        raise CurationError("answers", message)


def _attempts(found: WorkedOut, resolved: ResolvedImport) -> None:
    known = _by_uuid(Experience, (new.uuid for _, new in resolved.attempts))
    externals = sorted({new.external for _, new in resolved.attempts if new.external})
    earlier = {}  # entries that were imported before and are not withdrawn
    for part in chunks(externals):
        rows = Experience.objects.filter(external__in=part).select_related("track")
        for row in rows.exclude(standing=EntryStanding.WITHDRAWN):
            own = (row.external, row.track.op, row.track.backend, row.title)
            earlier[*own, _figure(row.gain)] = row
    seen: dict[str, str] = {}
    ideas: dict[tuple[str, ...], str] = {}
    fresh: list[tuple[AttemptDraft, NewExperience]] = []
    for draft, new in resolved.attempts:
        # What tells an attempt of another system from others with the same id there.
        own = (new.external, new.op, new.backend, new.title)
        twin = known.get(new.uuid) or (
            earlier.get((*own, _figure(new.gain))) if new.external else None
        )
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
    same = _same_ideas([new for _, new in fresh])
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
    known = _by_uuid(Lesson, (draft.uuid for draft, _ in resolved.lessons))
    # Takeaway and scope of every lesson that nobody has retracted.
    texts = {
        (row.takeaway, row.op, row.backend, row.platform, row.arch): f"here already as {row.uuid}"
        for row in Lesson.objects.exclude(state=LessonState.RETRACTED)
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
    known = set(_by_uuid(Gap, (gap.uuid for gap in resolved.gaps)))
    for gap in resolved.gaps:
        why = f"here already as {gap.uuid}" if gap.uuid in known else ""
        if not why:
            found.gaps.append(gap)
            known.add(gap.uuid)
        outcome = "skip" if why else "create"
        found.rows.append(_row("question", gap.place, outcome, gap.question[:SHOWN], why))


def _row(kind: str, at: str, outcome: str, what: str, why: str) -> Row:
    return {"kind": kind, "at": at, "outcome": outcome, "what": what, "why": why}


def _by_uuid(table: Any, uuids: Iterable[str]) -> dict[str, Any]:
    """UUID → the row that has it, whatever its standing."""
    wanted = [each for each in uuids if each]
    rows = (row for part in chunks(wanted) for row in table.objects.filter(uuid__in=part))
    return {str(row.uuid): row for row in rows}


def _figure(gain: float | None) -> str:
    return "" if gain is None else f"{gain:.6f}"


def _same_ideas(attempts: Sequence[NewExperience]) -> dict[int, str]:
    """Position → UUID of an entry of the same idea in the same context: they could be merged."""
    wanted: dict[tuple[str, ...], list[int]] = {}
    names = load_names()
    for at, attempt in enumerate(attempts):
        if not attempt.strategy:
            continue
        key = idea_key(names.slug(attempt.strategy, attempt.backend), attempt.params)
        place = place_of(attempt.platform, attempt.arch)
        context = (key, attempt.op, attempt.dtype, attempt.backend, place.platform, place.arch)
        wanted.setdefault((*context, attempt.bottleneck.value), []).append(at)
    found: dict[int, str] = {}
    for part in chunks(sorted({context[0] for context in wanted})):
        rows = Experience.objects.filter(params_key__in=part, standing=EntryStanding.COUNTS)
        for row in rows.select_related("track"):
            track = row.track
            said = (row.params_key, track.op, track.dtype, track.backend, track.platform)
            for at in wanted.get((*said, track.arch, track.bottleneck), ()):
                found.setdefault(at, str(row.uuid))
    return found
