"""Two rounds → rows that say where they are equal and where they differ.

Compared both ways a pair gives one answer: the gain of the second over the first is one over that
of the first over the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from campaigns.models import Campaign, Round
from campaigns.records.campaigns import result_of, target_of
from campaigns.records.evaluations import report_of
from campaigns.records.rounds import hypothesis_of
from campaigns.reports.diff import Diff, diff
from campaigns.reports.rows import RoundRow, some_rows
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.chained import chained, inverse
from campaigns.rules.verdict.decide import SESSION

SAME = "a round compared with itself"
DIRECT = "measured against each other in pairs"
AT_THE_END = "measured side by side at the end of the campaign"
THROUGH = "not measured against each other; chained from paired gains through round {}"
UNPAIRED = "no paired gains lead from one to the other, so no gain is shown"


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
    """One case: both unpaired medians in µs, and the gain of the second by pairs."""

    name: str
    first_us: float | None
    second_us: float | None
    gain: Gain | None


@dataclass(frozen=True, slots=True)
class RoundComparison:
    """Both rounds and all sections of the page. gain: the second over the first, by `basis`."""

    first: RoundRow
    second: RoundRow
    gain: Gain | None
    basis: str
    texts: tuple[TextRow, ...]
    settings: tuple[TextRow, ...]
    times: tuple[TimeRow, ...]
    code: Diff | None

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


def compare_rounds(campaign: Campaign, first: Round, second: Round) -> RoundComparison:
    """Compare two rounds of one campaign; the protocol is the same by construction."""
    known = some_rows(campaign, [first.number, second.number], target_of(campaign))
    rows = known[first.number], known[second.number]
    old, new = first.chosen, second.chosen
    ways = _ways(known, *rows)
    gain, basis = _gain(campaign, known, rows, ways)
    return RoundComparison(
        first=rows[0],
        second=rows[1],
        gain=gain,
        basis=basis,
        texts=tuple(_texts(*rows)),
        settings=_merged(_environment(first), _environment(second)),
        times=_times(*rows, ways),
        code=diff(old.text, new.text, new.file_name) if old and new else None,
    )


# From the round that both rest on to either of them, each step held against the one before.
Ways = tuple[list[RoundRow], list[RoundRow]]


def _ways(known: Mapping[int, RoundRow], first: RoundRow, second: RoundRow) -> Ways:
    one, other = _way(known, first), _way(known, second)
    while one and other and one[0] is other[0]:
        one, other = one[1:], other[1:]
    return one, other


def _way(known: Mapping[int, RoundRow], row: RoundRow | None) -> list[RoundRow]:
    """From the baseline to a round through the incumbents of the time."""
    found: list[RoundRow] = []
    while row is not None and row not in found:
        found.insert(0, row)
        row = known.get(row.against or 0)
    return found


def _gain(
    campaign: Campaign, known: Mapping[int, RoundRow], rows: tuple[RoundRow, RoundRow], ways: Ways
) -> tuple[Gain | None, str]:
    """The gain of the second over the first, and what it rests on."""
    numbers = tuple(row.number for row in rows)
    if numbers[0] == numbers[1]:
        return None, SAME
    total, best = result_of(campaign), campaign.incumbent and campaign.incumbent.round.number
    if total and set(numbers) == {1, best}:
        return (total if numbers[0] == 1 else inverse(total)), AT_THE_END
    gain = _between(ways, lambda row: row.gain)
    if gain is None:
        return None, UNPAIRED
    through = sorted({row.against for way in ways for row in way if row.against} - set(numbers))
    return gain, THROUGH.format(", ".join(map(str, through))) if through else DIRECT


def _between(ways: Ways, gain_of: Callable[[RoundRow], Gain | None]) -> Gain | None:
    """Down one way and up the other; None where a step has no gain."""
    if any(row.number == 1 or row.against is None for way in ways for row in way):
        return None
    down, up = ([gain_of(row) for row in way] for way in ways)
    steps = [gain and inverse(gain) for gain in down] + up
    known = [gain for gain in steps if gain]
    return chained(known) if len(known) == len(steps) else None


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


def _times(first: RoundRow, second: RoundRow, ways: Ways) -> tuple[TimeRow, ...]:
    names: Sequence[str] = list(dict.fromkeys([*first.medians, *second.medians]))
    same = first.number == second.number
    return tuple(
        TimeRow(
            name,
            first.medians.get(name),
            second.medians.get(name),
            None if same else _between(ways, partial(_case_gain, name)),
        )
        for name in names
    )


def _case_gain(case: str, row: RoundRow) -> Gain | None:
    return next((result.gain for result in row.results if result.case == case), None)
