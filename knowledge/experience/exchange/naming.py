"""Names of a file as ours, and its drafts with our names.

A name is known by the alias table, the wiki, the catalogue, and what a person answered.

A name that none of them holds is a question, with the nearest known names. It is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knowledge.curation.errors import CurationError
from knowledge.experience.attempts.record import NewExperience
from knowledge.experience.catalogue.names import load_names
from knowledge.experience.lessons.new import NewLesson, checked
from knowledge.experience.readers.drafts import (
    TEXTS,
    AttemptDraft,
    GapDraft,
    LessonDraft,
    ReadFault,
    ReadFiles,
    SkippedRow,
)
from knowledge.experience.readers.spellings import (
    EMPTY,
    TABLES,
    architecture,
    nearest,
    nearest_of,
    our_name,
    our_names,
)
from knowledge.experience.recommend.score import Question
from knowledge.experience.terms import Bottleneck
from knowledge.lookup.listing import slug_meant
from knowledge.lookup.platform_names import PlatformNames, of_architecture
from knowledge.models import ExperienceOrigin, LessonSource, Platform, Strategy, TrackRecord

KEEP = "="  # the answer that keeps a name as it is
AVOID, LEAVE_OUT = "avoid", "leave out"
CACHED_ANSWERS = (AVOID, LEAVE_OUT)
UNREAD = "rows that cannot be read"  # whose only answer is to leave them out
LONGEST = {"op": 60, "dtype": 20, "backend": 40, "platform": 80, "bottleneck": 20, "strategy": 120}
NO_STRATEGY = "leave it unknown; it is never grouped"
NO_OP = "leave it unknown"


@dataclass(slots=True)
class NameQuestion:
    """A name that is not known. key: what its answer is stored under. near: what may be meant.

    rows: how many have it. first: the place of one, about: what that is. kept: what keeping means.
    """

    key: str
    field: str
    name: str
    near: list[str]
    rows: int
    first: str
    about: str
    answer: str = ""
    kept: str = "keep as it is"

    def stored(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class NameBook:
    """Resolves the names of one import, and collects the questions."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.questions: dict[str, NameQuestion] = {}
        rows = Platform.objects.values_list("slug", "name", "aliases")
        self._platforms = PlatformNames.of(rows)
        self._here = {
            name: set(TrackRecord.objects.order_by().values_list(name, flat=True).distinct())
            for name in ("op", "backend", "platform", "strategy")
        }
        strategies = Strategy.objects.values_list("slug", "title", "aliases")
        self._spelled = {
            said: slug for slug, title, aliases in strategies for said in (slug, title, *aliases)
        }
        self._names = load_names()
        self._known: dict[tuple[str, str, str], str | None] = {}

    def name(self, field: str, name: str, place: str, about: str = "") -> str:
        """Our name of a field with a table; asked where nothing has it."""
        return self._resolve(field, name.strip(), place, about, backend="")

    def strategy(self, name: str, backend: str, place: str, about: str = "") -> str:
        """The catalogue's name; one that is answered for this row alone goes first."""
        own = self.answers.get(f"strategy@{place}", "")
        if own:
            return name if own == KEEP else own
        return self._resolve("strategy", name.strip(), place, about, backend=backend)

    def place(self, name: str, at: str, about: str = "") -> tuple[str, str]:
        """Platform and architecture of a chip; one of them is "" where only the other is known."""
        said = self._resolve("platform", name.strip(), at, about, backend="")
        arch = architecture(said)
        return ("", arch) if arch else (said, "")

    def blank(self, field: str, place: str, about: str, kept: str) -> None:
        """Ask what a row that names nothing is about; `kept` leaves it so."""
        if not self.answers.get(f"{field}@{place}"):
            self._ask(f"{field}:", field, "", place, about).kept = kept

    def cached(self, place: str, about: str) -> str:
        """What to do with a lesson that advises a forbidden cache."""
        key = f"lesson@{place}"
        question = self._ask(key, "lesson", "a cache by identity", place, about)
        question.near, question.kept = list(CACHED_ANSWERS), "keep it as good advice"
        return question.answer

    def unread(self, faults: Sequence[ReadFault]) -> str:
        """What to do with rows that cannot be stored; they are one question."""
        answer = ""
        for fault in faults:
            question = self._ask(UNREAD, "rows", UNREAD, fault.place, fault.words)
            question.near, question.kept = [LEAVE_OUT], "import nothing"
            answer = question.answer
        return answer

    def _resolve(self, field: str, name: str, place: str, about: str, *, backend: str) -> str:
        if name in EMPTY:
            said = self.answers.get(f"{field}:", "")
            return "" if said == KEEP else said
        key = (field, name, backend)
        if key not in self._known:
            self._known[key] = self._look_up(field, name, backend)
        known = self._known[key]
        if known is not None:
            return known
        question = self._ask(f"{field}:{name}", field, name, place, about)
        return question.answer if question.answer not in ("", KEEP) else name

    def _look_up(self, field: str, name: str, backend: str) -> str | None:
        if field in TABLES:
            found = our_name(field, name)
            return name if found is None and name in self._here.get(field, ()) else found
        if field == "strategy":
            slug = self._names.slug(name, backend)
            return slug if slug in self._names.slugs or name in self._here["strategy"] else None
        known = architecture(name) or self._platforms.slug(name)
        if known:
            return known
        targets = {platform.target for platform in of_architecture(name)} - {""}
        if len(targets) == 1:
            return str(targets.pop())
        return name if name in self._here["platform"] else None

    def _ask(self, key: str, field: str, name: str, place: str, about: str) -> NameQuestion:
        found = self.questions.get(key)
        if found is None:
            near: list[str] = []
            if name and field in TABLES:
                near = nearest_of(field, name)
            elif name and field == "platform":
                near = self._platforms.nearest(name)
            elif name:
                near = nearest(name, self._names.slugs, self._spelled)
            answer = self.answers.get(key, "")
            found = NameQuestion(key, field, name, near, 0, place, about, answer)
            self.questions[key] = found
        found.rows += 1
        return found


def our_question(said: Mapping[str, str]) -> Question:
    """A question in our names, from op, backend, platform, dtype and bottleneck as written.

    platform: also a name, a part of one or an architecture. CurationError names what is not known
    and what is near, FilterError the platforms that may be meant.
    """
    book = NameBook({})
    named = said["platform"]
    platform, arch = book.place(named if of_architecture(named) else slug_meant(named), "")
    names: dict[str, Any] = {
        name: book.name(name, said[name], "") for name in ("op", "backend", "dtype")
    }
    bottleneck = book.name("bottleneck", said["bottleneck"], "") or Bottleneck.UNKNOWN
    for question in book.questions.values():
        near = f"; perhaps {', '.join(question.near)}" if question.near else ""
        raise CurationError(question.field, f"'{question.name[:60]}' is not known{near}")
    return Question(platform=platform, arch=arch, bottleneck=bottleneck, **names)


def choices_of(field: str) -> list[str]:
    """All names of a field that an answer may be."""
    if field in ("lesson", "rows"):
        return list(CACHED_ANSWERS) if field == "lesson" else [LEAVE_OUT]
    if field in TABLES:
        return our_names(field)
    table = Platform if field == "platform" else Strategy
    return list(table.objects.order_by("slug").values_list("slug", flat=True))


def require_answer(field: str, answer: str) -> str:
    """The answer as it is stored. CurationError where it is no name of this field."""
    said = answer.strip()
    if said in ("", KEEP):
        return said
    if field == "platform" and architecture(said):
        return architecture(said)
    if field in TABLES:
        said = our_name(field, said) or said
    accepted = choices_of(field)
    if said not in accepted:
        near = nearest(said, accepted) or accepted[:10]
        raise CurationError(field, f"'{said[:60]}'; accepted: {', '.join(near)}, … or {KEEP}")
    return said


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
    drafts: list[AttemptDraft | LessonDraft] = [*read.attempts, *read.lessons]
    for draft in drafts:
        try:
            if isinstance(draft, AttemptDraft):
                found.attempts.append((draft, _attempt(draft, book)))
            else:
                _take_lesson(found, draft, book)
        except CurationError as error:
            found.faults.append(ReadFault(draft.file, draft.line, error.field, error.message))
    return found


def _attempt(draft: AttemptDraft, book: NameBook) -> NewExperience:
    values, origin = dict(draft.values), ExperienceOrigin.IMPORTED
    if draft.ours:
        own: dict[str, Any] = {**draft.names, "bottleneck": Bottleneck(draft.names["bottleneck"])}
        return NewExperience(origin=origin, **own, **values)
    said, at, about = draft.names, draft.place, draft.about
    for name, without in (("op", NO_OP), ("strategy", NO_STRATEGY)):
        if not said.get(name):
            book.blank(name, at, about, without)
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
    # A name that a person keeps is none of ours: unknown.
    known = bottleneck if bottleneck in set(Bottleneck) else Bottleneck.UNKNOWN
    return NewExperience(origin=origin, arch=arch, bottleneck=Bottleneck(known), **names, **values)


def _take_lesson(found: ResolvedImport, draft: LessonDraft, book: NameBook) -> None:
    avoid, at, about = draft.avoid, draft.place, draft.about
    if draft.cached:
        answer = book.cached(at, about)
        if answer == LEAVE_OUT:
            why = f"left out by an answer: {draft.cached}"
            found.left_out.append(SkippedRow(draft.file, draft.line, about, why))
            return
        avoid = avoid or answer == AVOID
    scope: dict[str, Any] = dict(draft.names)
    if not draft.ours:
        platform, arch = book.place(scope.get("platform", ""), at, about)
        scope = {
            name: book.name(name, scope.get(name, ""), at, about)
            for name in ("op", "dtype", "backend")
        } | {"platform": platform, "arch": arch}
    _require_short(scope)
    texts: dict[str, Any] = {name: getattr(draft, name) for name in TEXTS}
    new = NewLesson(avoid=avoid, source=LessonSource.IMPORTED, **texts, **scope)
    found.lessons.append((draft, checked(new)))


def _require_short(names: Mapping[str, str]) -> None:
    for name, text in names.items():
        most = LONGEST.get(name, 120)
        if len(text) > most:
            raise CurationError(name, f"{len(text)} characters; accepted: at most {most}")
