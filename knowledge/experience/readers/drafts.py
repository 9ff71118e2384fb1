"""PURE: what a file says, before anything of it is stored, and the label of what it measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.exchange.formats import Format, GivenFile
from knowledge.experience.terms import AttemptLabel, label_of
from knowledge.specs.json_text import RecordError

# What a file names in words of its own; see `readers.spellings`.
NAMED = ("op", "dtype", "backend", "platform", "bottleneck", "strategy")
TEXTS = ("context", "signal", "takeaway", "applicability")  # of a lesson
SHOWN = 160  # characters of a draft's text that tell it from others
LEAST_FLOOR = 0.01
# What a source says → whether it claims that the attempt worked; None where its answer was wrong.
CLAIMS: dict[AttemptLabel, tuple[str, ...]] = {
    AttemptLabel.SUCCESS: ("success", "improved", "kept", "keep", "accepted", "worked", "win"),
    AttemptLabel.TIE: ("neutral", "tie", "no change", "no_change", "unchanged", "failure", "failed",
                       "rejected", "rolled_back", "rolled back", "revert", "reverted"),
    AttemptLabel.REGRESSION: ("regression", "regressed", "slower"),
    AttemptLabel.INCORRECT: ("incorrect", "invalid", "wrong", "wrong_result", "fail"),
}  # fmt: skip
_LABEL = {word: label for label, words in CLAIMS.items() for word in words}
ACCEPTED = tuple(_LABEL)
FAILED = ("failure", "failed")


@dataclass(frozen=True, slots=True)
class Placed:
    """One thing that a file says, and where."""

    file: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:L{self.line}"


@dataclass(frozen=True, slots=True)
class ReadFault(Placed):
    """One thing that cannot be read: where, which field, and what is accepted.

    is_row: whether it is one row, so that all others of its file are read.
    """

    field: str
    message: str
    is_row: bool = True

    @property
    def words(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


@dataclass(frozen=True, slots=True)
class AttemptDraft(Placed):
    """One attempt as a file has it.

    names: field → name, of `NAMED`; "" is not said. values: further fields of
    `NewExperience`, in our words. ours: the names are ours already.
    merged_into: the uuid that it is merged into.
    """

    names: Mapping[str, str]
    values: Mapping[str, Any]
    ours: bool = False
    merged_into: str = ""

    @property
    def about(self) -> str:
        """What was tried, in a line."""
        values = self.values
        told = (values.get("title"), values.get("change"), self.names.get("strategy"))
        return str(next(filter(None, told), values.get("notes", ""))).partition("\n")[0][:SHOWN]


@dataclass(frozen=True, slots=True)
class LessonDraft(Placed):
    """One lesson as a file has it; see `knowledge.models.lesson` for its four texts.

    evidence: uuid of an entry → whether it agrees. state: as it was there; "" where a file has no
    states. cached: why its advice is a forbidden cache; "" if it is none.
    """

    names: Mapping[str, str]
    context: str
    signal: str
    takeaway: str
    applicability: str
    avoid: bool = False
    uuid: str = ""
    state: str = ""
    evidence: Mapping[str, bool] = field(default_factory=dict)
    ours: bool = False
    cached: str = ""

    @property
    def about(self) -> str:
        return self.takeaway.partition("\n")[0][:SHOWN]


@dataclass(frozen=True, slots=True)
class GapDraft(Placed):
    """One open question as a file has it. names: its scope."""

    names: Mapping[str, str]
    question: str
    uuid: str = ""
    query: str = ""
    state: str = "open"
    why: str = ""


@dataclass(frozen=True, slots=True)
class SkippedRow(Placed):
    """One row that is not taken, and why."""

    about: str
    why: str


Read = AttemptDraft | LessonDraft | GapDraft | SkippedRow | RecordError
# Each reader of this folder adds its own.
FORMATS: list[Format[GivenFile, Iterator[Read]]] = []


@dataclass(slots=True)
class ReadFiles:
    """What some files hold. formats: the names of those that were recognised."""

    formats: list[str] = field(default_factory=list)
    attempts: list[AttemptDraft] = field(default_factory=list)
    lessons: list[LessonDraft] = field(default_factory=list)
    gaps: list[GapDraft] = field(default_factory=list)
    left_out: list[SkippedRow] = field(default_factory=list)
    faults: list[ReadFault] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.attempts) + len(self.lessons) + len(self.gaps)


def judge(stated: str, gain: float | None) -> tuple[AttemptLabel, str]:
    """The label, and a note where the source claims something else. stated: one of `ACCEPTED`.

    gain: 0.05 is 5 % faster; None if not measured: then only what is stated is known. A source that
    counts a clear gain as a failure had a wrong answer.
    """
    plain = stated.strip().casefold()
    claimed = _LABEL.get(plain, AttemptLabel.TIE)
    if gain is None:
        return claimed, ""
    correct = claimed != AttemptLabel.INCORRECT
    if plain in FAILED and gain >= 0.02:
        correct = False
    label = label_of(gain, correct=correct, faster=gain > LEAST_FLOOR, floor=LEAST_FLOOR)
    if label == AttemptLabel.INCORRECT and plain in FAILED:
        return label, f'Its source calls it "{stated}" though it was {gain:.1%} faster.'
    if not plain or label.worked == claimed.worked:
        return label, ""
    return label, f'Its source calls it "{stated}"; measured {gain:+.1%}, it is a {label}.'
