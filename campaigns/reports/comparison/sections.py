"""Two to six things side by side: what every page and file of a comparison shows.

The first is the baseline of all gains. Compared the other way round a pair gives the same answer:
the gain of one over the other is one over that of the other over the one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.reports.diff import Diff
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord

FEWEST, MOST = 2, 6
UNPAIRED = "no paired gains lead from one to the other, so no gain is shown"


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
    """One case: the times in µs, and the gain of each but the first over the first."""

    name: str
    times: tuple[float | None, ...]
    gains: tuple[Gain | None, ...]


@dataclass(frozen=True, slots=True)
class Versus:
    """One of the others against the first. basis: what the gain rests on, in words.

    differs: the legs of this comparison that are not alike, so that it is none of like with like.
    """

    column: Column
    gain: Gain | None
    basis: str
    differs: tuple[TextRow, ...] = ()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All sections. noun: what is compared. code: the diff of two; of more there are links."""

    noun: str
    columns: tuple[Column, ...]
    others: tuple[Versus, ...]
    sections: tuple[Section, ...]
    cases: tuple[ComparedCase, ...]
    code: Diff | None

    @property
    def first(self) -> Column:
        """The baseline of all gains."""
        return self.columns[0]

    @property
    def is_same(self) -> bool:
        return all(column == self.first for column in self.columns)

    @property
    def gains_by_case(self) -> bool:
        """Whether any case has a gain of its own."""
        return any(gain for row in self.cases for gain in row.gains)

    @property
    def case_rows(self) -> list[tuple[str, list[tuple[str, float | None, Gain | None]]]]:
        """Each case with the name, time and gain of each column; of the first there is no gain."""
        names = [column.name for column in self.columns]
        return [
            (case.name, list(zip(names, case.times, (None, *case.gains), strict=True)))
            for case in self.cases
        ]

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
            {"name": one.column.name, **gain_facts(one.gain), "basis": one.basis,
             "not_alike": [row.name for row in one.differs]}
            for one in found.others
        ],
        "cases": [
            {"case": row.name, "times_us": row.times, "gains": [*map(gain_facts, row.gains)]}
            for row in found.cases
        ],
        "sections": {
            section.title: {
                row.name: row.values for row in (section.rows if everything else section.differing)
            }
            for section in found.sections
        },
        "equal_rows": found.hidden,
    }  # fmt: skip


def gain_facts(gain: Gain | None) -> dict[str, Any]:
    """A gain as plain values; all None where there is none."""
    names = ("gain", "low", "high", "pairs", "kind")
    return {name: getattr(gain, name) if gain else None for name in names}


def table_rows(found: SideBySide) -> Iterable[dict[str, Any]]:
    """A row a case and one of the others: both times, the gain and what it rests on."""
    for at, one in enumerate(found.others):
        whole = ComparedCase("all cases", _none(found), tuple(v.gain for v in found.others))
        for row in (*found.cases, whole):
            yield {
                "case": row.name,
                "baseline": found.first.name,
                "compared": one.column.name,
                "baseline_us": row.times[0],
                "compared_us": row.times[at + 1],
                **gain_facts(row.gains[at]),
                "basis": one.basis,
            }


def _none(found: SideBySide) -> tuple[None, ...]:
    return (None,) * len(found.columns)
