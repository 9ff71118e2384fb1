"""Two rounds → rows that say where they are equal and where they differ.

Compared both ways a pair gives one answer: the gain of the second over the first is one over that
of the first over the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from campaigns.evaluator.contract.report import OF_THE_SESSION
from campaigns.models import Campaign, Evaluation, Round
from campaigns.records.campaigns import result_of, stored_result, target_of
from campaigns.records.evaluations import report_of
from campaigns.records.judged_rounds import standard_of
from campaigns.reports.diff import Diff, diff
from campaigns.reports.rows import RoundRow, some_rows
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.chained import chained, inverse
from campaigns.rules.verdict.one_session import compare

SAME = "a round compared with itself"
DIRECT = "measured against each other in pairs"
AT_THE_END = "measured side by side at the end of the campaign"
THROUGH = "not measured against each other; chained from paired gains through round {}"
Ways = tuple[list[RoundRow], list[RoundRow]]
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
    """One case: the times of both rounds in µs, and the gain of the second by pairs."""

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
        """What forbids to compare: other places or versions, not another session there."""
        differ = (row for row in self.settings if not row.is_equal)
        return tuple(row for row in differ if row.name not in OF_THE_SESSION)


def compare_rounds(campaign: Campaign, first: Round, second: Round) -> RoundComparison:
    """Compare two rounds of one campaign; the protocol is the same by construction."""
    known = some_rows(campaign, [first.number, second.number], target_of(campaign))
    old, new = known[first.number], known[second.number]
    sources = old.round.chosen, new.round.chosen
    # From the round that both rest on to either of them, each step held against the one before.
    down, up = _way(known, old), _way(known, new)
    while down and up and down[0] is up[0]:
        down, up = down[1:], up[1:]
    gain, basis = _gain(campaign, (old, new), (down, up))
    environments: list[dict[str, str]] = []
    for row in (old, new):
        report = report_of(row.verdict.evaluation) if row.verdict else None
        environments.append(dict(report.environment) if report else {})
    names = dict.fromkeys([*environments[0], *environments[1]])
    cases = dict.fromkeys([*old.medians, *new.medians])
    at_the_end = _at_the_end(campaign, (old, new)) if basis == AT_THE_END else {}
    return RoundComparison(
        first=old,
        second=new,
        gain=gain,
        basis=basis,
        texts=tuple(_texts(old, new)),
        settings=tuple(TextRow(name, *(e.get(name, "") for e in environments)) for name in names),
        times=tuple(
            TimeRow(
                case,
                old.times.get(case),
                new.times.get(case),
                at_the_end.get(case) if basis == AT_THE_END else _between((down, up), case),
            )
            for case in cases
        ),
        code=diff(sources[0].text, sources[1].text, sources[1].file_name)
        if sources[0] and sources[1]
        else None,
    )


def _way(known: Mapping[int, RoundRow], row: RoundRow | None) -> list[RoundRow]:
    """From the baseline to a round through the incumbents of the time."""
    found: list[RoundRow] = []
    while row is not None and row not in found:
        found.insert(0, row)
        row = known.get(row.against or 0)
    return found


def _gain(
    campaign: Campaign, rows: tuple[RoundRow, RoundRow], ways: Ways
) -> tuple[Gain | None, str]:
    """The gain of the second over the first, and what it rests on."""
    numbers = tuple(row.number for row in rows)
    if numbers[0] == numbers[1]:
        return None, SAME
    total, best = result_of(campaign), campaign.incumbent and campaign.incumbent.round.number
    if total and set(numbers) == {1, best}:
        return (total if numbers[0] == 1 else inverse(total)), AT_THE_END
    gain = _between(ways)
    if gain is None:
        return None, UNPAIRED
    through = sorted({row.against for way in ways for row in way if row.against} - set(numbers))
    return gain, THROUGH.format(", ".join(map(str, through))) if through else DIRECT


def _at_the_end(campaign: Campaign, rows: tuple[RoundRow, RoundRow]) -> Mapping[str, Gain]:
    """The same by case, from the evaluation that the campaign's result rests on."""
    key = stored_result(campaign).evaluation
    measured = Evaluation.objects.filter(pk=key).first() if key else None
    report = report_of(measured) if measured else None
    if report is None:
        return {}
    found = compare(report, standard_of(campaign, has_incumbent=True)).credited.cases
    name, is_back = f"gain:campaign:{campaign.pk}", rows[0].number > rows[1].number
    gains = {case: replace(gain, name=f"{name}:{case}") for case, gain in found.items()}
    return {case: inverse(gain) if is_back else gain for case, gain in gains.items()}


def _between(ways: Ways, case: str = "") -> Gain | None:
    """Down one way and up the other, on one case or on all; None where a step has no gain."""
    if any(row.number == 1 or row.against is None for way in ways for row in way):
        return None
    down, up = (
        [
            next((r.gain for r in row.results if r.case == case), None) if case else row.gain
            for row in way
        ]
        for way in ways
    )
    steps = [gain and inverse(gain) for gain in down] + up
    known = [gain for gain in steps if gain]
    return chained(known) if len(known) == len(steps) else None


def _texts(first: RoundRow, second: RoundRow) -> Iterator[TextRow]:
    ideas = first.hypothesis, second.hypothesis
    for name in ("title", "strategy", "change", "rationale", "risks"):
        yield TextRow(name, *(str(getattr(idea, name, "")) for idea in ideas))
    yield TextRow("verdict", first.word.words, second.word.words)
    yield TextRow("reason", first.reason, second.reason)
    flags = [" ".join(r.round.chosen.flags) if r.round.chosen else "" for r in (first, second)]
    yield TextRow("compiler flags", *flags)
