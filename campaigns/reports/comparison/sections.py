"""Two to six things side by side: what every page and file of a comparison shows.

The first is the baseline of all gains. Swapping a pair inverts its gain and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.models import Candidate
from campaigns.records.values import gain_value
from campaigns.records.verdicts import SessionTimes
from campaigns.reports.diff import Diff, diff
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import known_duration

FEWEST, MOST = 2, 6
UNPAIRED = "not measured side by side, so no gain is shown; each time is of its own session"


@dataclass(frozen=True, slots=True)
class Column:
    """One of the things. name: as a baseline is named; title: what it is."""

    number: int
    name: str
    title: str
    href: str
    word: VerdictWord | None = None


@dataclass(frozen=True, slots=True)
class TextRow:
    """One fact of each of them, in words."""

    name: str
    values: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        return len(set(self.values)) == 1


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one title. equal: how many of them "only differences" leaves out.

    is_folded: whether a page shows them only where somebody asks.
    """

    title: str
    rows: tuple[TextRow, ...]
    is_folded: bool = False

    @property
    def equal(self) -> int:
        return sum(row.is_equal for row in self.rows)

    @property
    def differing(self) -> tuple[TextRow, ...]:
        return tuple(row for row in self.rows if not row.is_equal)


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """One case: the times of both in µs, and the gain of one over the first.

    With a gain both times are of the session that shows it.
    """

    name: str
    first_us: float | None
    time_us: float | None
    gain: Gain | None

    def words(self, *names: str) -> str:
        """Both times in a line."""
        times = zip(names, (self.first_us, self.time_us), strict=True)
        return ", ".join(f"{name} {known_duration(us, 'not timed')}" for name, us in times)


@dataclass(frozen=True, slots=True)
class Versus:
    """One of the others against the first. basis: what the gain rests on, in words.

    differs: the legs of this comparison that are not alike, so that it is none of like with like.
    """

    column: Column
    gain: Gain | None
    basis: str
    cases: tuple[ComparedCase, ...]
    differs: tuple[TextRow, ...] = ()


def versus(
    column: Column,
    basis: str,
    of_both: tuple[Mapping[str, float], Mapping[str, float]],
    legs: Sequence[Mapping[str, str]] = (),
    shown: SessionTimes | None = None,
) -> Versus:
    """of_both: case → µs of the first and of this one. legs: what both should share.

    shown: the session that both are of; None where they are of two.
    """
    first, own = of_both
    differs = tuple(row for row in rows_between(legs) if not row.is_equal)
    gains = {one.case: one.gain for one in shown.cases} if shown else {}
    cases = (
        ComparedCase(case, first.get(case), own.get(case), gains.get(case))
        for case in dict.fromkeys([*first, *own])
    )
    return Versus(column, shown.gain if shown else None, basis, tuple(cases), differs)


def code_of(*sources: Candidate | None) -> Diff | None:
    """The diff of two sources; None if one is missing, and of more than two."""
    known = [one for one in sources if one]
    if len(sources) != 2 or len(known) != 2:
        return None
    return diff(known[0].text, known[1].text, known[1].file_name)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All sections. noun: what is compared. code: the diff of two; of more there are links."""

    noun: str
    columns: tuple[Column, ...]
    others: tuple[Versus, ...]
    sections: tuple[Section, ...]
    code: Diff | None

    @property
    def first(self) -> Column:
        """The baseline of all gains."""
        return self.columns[0]

    @property
    def is_same(self) -> bool:
        return all(column == self.first for column in self.columns)

    @property
    def hidden(self) -> int:
        """How many rows "only differences" leaves out, of those shown here."""
        return sum(section.equal for section in self.sections)

    @property
    def differs(self) -> tuple[TextRow, ...]:
        """What is not alike in any of its pairs, each once."""
        return tuple({row.name: row for one in self.others for row in one.differs}.values())

    @property
    def title(self) -> str:
        """All names in one line."""
        *most, last = (column.name for column in self.columns)
        return f"{', '.join(most)} and {last}"


def rows_between(facts: Sequence[Mapping[str, str]]) -> tuple[TextRow, ...]:
    """One row a name that any of the facts has; what is missing is empty."""
    names = dict.fromkeys(name for one in facts for name in one)
    return tuple(TextRow(name, tuple(one.get(name, "") for one in facts)) for name in names)


def facts_of(found: SideBySide, *, everything: bool = False) -> dict[str, Any]:
    """The comparison as data. everything: equal rows too."""
    return {
        "baseline": found.first.name,
        found.noun: [
            {"number": column.number, "name": column.name, "title": column.title,
             "verdict": column.word and column.word.value}
            for column in found.columns
        ],
        "gains": [
            {"name": one.column.name, **gain_value(one.gain), "basis": one.basis,
             "not_alike": [row.name for row in one.differs], "cases": case_facts(one)}
            for one in found.others
        ],
        "sections": {
            section.title: {
                row.name: row.values for row in (section.rows if everything else section.differing)
            }
            for section in found.sections
        },
        "equal_rows": found.hidden,
    }  # fmt: skip


def case_facts(one: Versus) -> list[dict[str, Any]]:
    """Its cases as data."""
    return [
        {"case": row.name, "baseline_us": row.first_us, "compared_us": row.time_us,
         **gain_value(row.gain)}
        for row in one.cases
    ]  # fmt: skip


def table_rows(found: SideBySide) -> Iterable[dict[str, Any]]:
    """A row a case and one of the others: both times, the gain and what it rests on."""
    for one in found.others:
        names = {"baseline": found.first.name, "compared": one.column.name, "basis": one.basis}
        for row in case_facts(one):
            yield row | names
        yield {"case": "all cases", **gain_value(one.gain), **names}
