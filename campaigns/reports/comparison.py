"""Two rounds → rows that say where they are equal and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from campaigns.models import Campaign, Round
from campaigns.records.hypotheses import hypothesis_of
from campaigns.records.reports import report_of
from campaigns.records.targets import target_of
from campaigns.reports.diff import Diff, diff
from campaigns.reports.sheet import RoundRow, round_row
from campaigns.rules.noise.means import geomean
from campaigns.rules.verdict.sessions import SESSION


@dataclass(frozen=True, slots=True)
class TextRow:
    """One thing that both rounds have, in words."""

    name: str
    first: str
    second: str

    @property
    def is_equal(self) -> bool:
        return self.first == self.second


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One case's median times in microseconds; ratio is first over second: 2 is twice as fast."""

    name: str
    first_us: float | None
    second_us: float | None

    @property
    def ratio(self) -> float | None:
        return self.first_us / self.second_us if self.first_us and self.second_us else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both rounds and all sections of the page. direct: measured against each other, in pairs."""

    first: RoundRow
    second: RoundRow
    texts: tuple[TextRow, ...]
    settings: tuple[TextRow, ...]
    times: tuple[TimeRow, ...]
    code: Diff | None
    is_paired: bool

    @property
    def is_same(self) -> bool:
        return self.first.number == self.second.number

    @property
    def equal_texts(self) -> int:
        return sum(row.is_equal for row in self.texts)

    @property
    def equal_settings(self) -> int:
        return sum(row.is_equal for row in self.settings)

    @property
    def hidden(self) -> int:
        """How many rows "only differences" leaves out, of these two rounds."""
        return self.equal_texts + self.equal_settings

    @property
    def environment_differs(self) -> tuple[TextRow, ...]:
        """What forbids to compare; the session's name differs between any two measurements."""
        return tuple(row for row in self.settings if not row.is_equal and row.name != SESSION)

    @property
    def ratio(self) -> float | None:
        """The geometric mean of the cases' ratios of medians."""
        ratios = [row.ratio for row in self.times if row.ratio]
        return geomean(ratios) if ratios and len(ratios) == len(self.times) else None


def compare_rounds(campaign: Campaign, first: Round, second: Round) -> Comparison:
    """Compare two rounds of one campaign; the protocol is the same by construction."""
    target = target_of(campaign)
    rows = round_row(first, target), round_row(second, target)
    old, new = first.chosen, second.chosen
    return Comparison(
        first=rows[0],
        second=rows[1],
        texts=tuple(_texts(*rows)),
        settings=_merged(_environment(first), _environment(second)),
        times=_times(*rows),
        code=diff(old.text, new.text, new.file_name) if old and new else None,
        is_paired=second.against_id is not None and second.against_id == first.chosen_id,
    )


def _texts(first: RoundRow, second: RoundRow) -> Iterator[TextRow]:
    ideas = hypothesis_of(first.round), hypothesis_of(second.round)
    names = ("title", "strategy", "change", "rationale", "risks")
    for name in names:
        yield TextRow(name, *(str(getattr(idea, name, "")) for idea in ideas))
    yield TextRow("verdict", first.word.words, second.word.words)
    yield TextRow("reason", first.reason, second.reason)
    flags = [" ".join(r.round.chosen.flags) if r.round.chosen else "" for r in (first, second)]
    yield TextRow("compiler flags", *flags)


def _environment(round_: Round) -> dict[str, str]:
    verdict = getattr(round_, "verdict", None)
    report = report_of(verdict.evaluation) if verdict else None
    return dict(report.environment) if report else {}


def _merged(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[TextRow, ...]:
    names = dict.fromkeys([*first, *second])
    return tuple(TextRow(name, first.get(name, ""), second.get(name, "")) for name in names)


def _times(first: RoundRow, second: RoundRow) -> tuple[TimeRow, ...]:
    known = [{r.case: r.time.median for r in row.results if r.time} for row in (first, second)]
    names = dict.fromkeys([*known[0], *known[1]])
    return tuple(TimeRow(name, known[0].get(name), known[1].get(name)) for name in names)
