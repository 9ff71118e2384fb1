"""Rounds of one campaign side by side, each against the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.urls import reverse

from campaigns.models import Campaign, Evaluation, Round
from campaigns.records.campaigns import result_of, stored_result, target_of
from campaigns.records.evaluations import legs_of, report_of
from campaigns.records.explained.profiles import Explained, explained, targets_in
from campaigns.records.judged_rounds import standard_of
from campaigns.reports.comparison.sections import (
    UNPAIRED,
    Column,
    ComparedCase,
    Section,
    SideBySide,
    TextRow,
    Versus,
    rows_between,
)
from campaigns.reports.diff import diff
from campaigns.reports.kernel.profile_sheet import profile_sheet
from campaigns.reports.rows import RoundRow, some_rows
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.chained import chained, inverse
from campaigns.rules.verdict.one_session import compare
from campaigns.rules.wording import duration, share

SAME = "a round compared with itself"
DIRECT = "measured against each other in pairs"
AT_THE_END = "measured side by side at the end of the campaign"
THROUGH = "not measured against each other; chained from paired gains through round {}"
# From the round that both rest on to either of them, each step held against the one before.
Ways = tuple[list[RoundRow], list[RoundRow]]
Rows = tuple[RoundRow, RoundRow]
# What a row says → what is said of one round.
Texts = dict[str, str]


def compare_rounds(campaign: Campaign, rounds: Sequence[Round]) -> SideBySide:
    """Compare two to six rounds of one campaign; its protocol and cases are the same for all."""
    known = some_rows(campaign, [one.number for one in rounds], target_of(campaign))
    rows = [known[one.number] for one in rounds]
    columns = [_column(campaign, row) for row in rows]
    pairs = [((rows[0], row), _ways(known, rows[0], row)) for row in rows[1:]]
    found = [_gain(campaign, both, ways) for both, ways in pairs]
    others = tuple(
        Versus(column, gain, basis, _differs(both, ways, basis))
        for column, (gain, basis), (both, ways) in zip(columns[1:], found, pairs, strict=True)
    )
    bases = [basis for _, basis in found]
    cases = dict.fromkeys(case for row in rows for case in row.medians)
    by_case = [_by_case(campaign, *pair, basis) for pair, basis in zip(pairs, bases, strict=True)]
    sources = [row.round.chosen for row in rows]
    read = _limits(campaign, rows)
    return SideBySide(
        noun="rounds",
        columns=tuple(columns),
        others=others,
        sections=(
            Section("Hypothesis and verdict", rows_between([dict(_texts(row)) for row in rows])),
            Section("What limits it", rows_between([limits for limits, _ in read])),
            Section("Counters", rows_between([counters for _, counters in read]), is_folded=True),
            Section("Settings and surroundings", rows_between([*map(_environment, rows)])),
        ),
        cases=tuple(
            ComparedCase(
                case,
                tuple(row.times.get(case) for row in rows),
                tuple(gains.get(case) for gains in by_case),
            )
            for case in cases
        ),
        code=diff(sources[0].text, sources[1].text, sources[1].file_name)
        if len(sources) == len(pairs) + 1 == 2 and sources[0] and sources[1]
        else None,
    )


def _column(campaign: Campaign, row: RoundRow) -> Column:
    href = reverse("round", args=[campaign.pk, row.number])
    return Column(row.number, f"round {row.number}", row.title, href, row.word)


def _limits(campaign: Campaign, rows: Sequence[RoundRow]) -> list[tuple[Texts, Texts]]:
    """Of each what limits it, with targets of its machine code, and the rest of its counters."""
    read = explained(campaign, [row.round.chosen_id for row in rows if row.round.chosen_id])
    return [_why(read.get(row.round.chosen_id or 0, Explained()), campaign) for row in rows]


def _why(found: Explained, campaign: Campaign) -> tuple[Texts, Texts]:
    told: Texts = {}
    counters: Texts = {}
    if profiled := found.profiled:
        told["class"] = profiled.limit.words
        told["findings"] = "; ".join(one.words for one in profiled.findings)
        sheet = profile_sheet(profiled, campaign)
        told |= {row.name: row.value for row in sheet.bars}
        rest = (*sheet.memory, *sheet.occupancy)
        counters = {row.name: row.value for row in rest if row.name not in told}
    if found.code:
        targets = targets_in(found.code, campaign)
        told |= {f"machine code, {one.name}": one.sentence for one in targets}
    return told, counters


def _environment(row: RoundRow) -> dict[str, str]:
    report = report_of(row.verdict.evaluation) if row.verdict else None
    return dict(report.environment) if report else {}


def _texts(row: RoundRow) -> Iterator[tuple[str, str]]:
    for name in ("title", "strategy", "change", "rationale", "risks"):
        yield name, str(getattr(row.hypothesis, name, ""))
    yield "verdict", row.word.words
    yield "reason", row.reason
    yield "time", duration(row.time_us) if row.time_us else ""
    yield "share of the roof", share(row.share) if row.share is not None else ""
    yield "compiler flags", " ".join(row.round.chosen.flags) if row.round.chosen else ""


def _differs(rows: Rows, ways: Ways, basis: str) -> tuple[TextRow, ...]:
    """The legs of one comparison that are not alike.

    What is measured in pairs has one leg, whatever the surroundings of each round's own session
    were. A chain has one for each of its steps; without a gain there are each round's own times.
    """
    if basis in (SAME, DIRECT, AT_THE_END):
        return ()
    steps = rows if basis == UNPAIRED else (*ways[0], *ways[1])
    keys = [row.verdict.evaluation_id for row in steps if row.verdict]
    found = legs_of(key for key in keys if key)
    return tuple(row for row in rows_between([*found.values()]) if not row.is_equal)


def _ways(known: Mapping[int, RoundRow], first: RoundRow, second: RoundRow) -> Ways:
    down, up = _way(known, first), _way(known, second)
    while down and up and down[0] is up[0]:
        down, up = down[1:], up[1:]
    return down, up


def _way(known: Mapping[int, RoundRow], row: RoundRow | None) -> list[RoundRow]:
    """From the baseline to a round through the incumbents of the time."""
    found: list[RoundRow] = []
    while row is not None and row not in found:
        found.insert(0, row)
        row = known.get(row.against or 0)
    return found


def _gain(campaign: Campaign, rows: Rows, ways: Ways) -> tuple[Gain | None, str]:
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


def _by_case(campaign: Campaign, rows: Rows, ways: Ways, basis: str) -> Mapping[str, Gain | None]:
    if basis == SAME:
        return {}
    if basis == AT_THE_END:
        return _at_the_end(campaign, rows)
    cases = dict.fromkeys([*rows[0].medians, *rows[1].medians])
    return {case: _between(ways, case) for case in cases}


def _at_the_end(campaign: Campaign, rows: Rows) -> Mapping[str, Gain]:
    """The gains by case, from the evaluation that the campaign's result rests on."""
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
