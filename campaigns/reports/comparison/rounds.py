"""Rounds of one campaign side by side, each against the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.urls import reverse

from campaigns.models import Campaign, Round
from campaigns.records.campaigns import target_of
from campaigns.records.evaluations import legs_of, report_of
from campaigns.records.explained.profiles import Explained, explained, targets_in
from campaigns.records.verdicts import final_of
from campaigns.reports.comparison.sections import (
    UNPAIRED,
    Column,
    Section,
    SideBySide,
    Versus,
    code_of,
    rows_between,
    versus,
)
from campaigns.reports.kernel.profile_sheet import profile_sheet
from campaigns.reports.rows import RoundRow, some_rows
from campaigns.rules.wording import known_duration, share

SAME = "a round compared with itself"
DIRECT = "measured against each other in pairs"
AT_THE_END = "measured side by side at the end of the campaign"
# What a row says → what is said of one round.
Texts = dict[str, str]


def compare_rounds(campaign: Campaign, rounds: Sequence[Round]) -> SideBySide:
    """Compare two to six rounds of one campaign; its protocol and cases are the same for all."""
    known = some_rows(campaign, [one.number for one in rounds], target_of(campaign))
    rows = [known[one.number] for one in rounds]
    columns = [_column(campaign, row) for row in rows]
    others = tuple(
        _compared(campaign, rows[0], row, column)
        for row, column in zip(rows[1:], columns[1:], strict=True)
    )
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
        code=code_of(*(row.round.chosen for row in rows)),
    )


def _column(campaign: Campaign, row: RoundRow) -> Column:
    href = reverse("round", args=[campaign.pk, row.number])
    return Column(row.number, f"round {row.number}", row.title, href, row.word)


def _limits(campaign: Campaign, rows: Sequence[RoundRow]) -> list[tuple[Texts, Texts]]:
    """Describe what limits each, with targets of its machine code, and its other counters."""
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
    yield "time in its own session", known_duration(row.time_us)
    yield "incumbent beside it", known_duration(row.incumbent_us)
    reached = f"{share(row.share)} of {row.target.roof_words}" if row.share else ""
    yield "share of its limit", reached
    yield "compiler flags", " ".join(row.round.chosen.flags) if row.round.chosen else ""


def _compared(campaign: Campaign, first: RoundRow, row: RoundRow, column: Column) -> Versus:
    """Both times are of one session where there is one, with its gain; else each of its own."""
    if first.number == row.number:
        return versus(column, SAME, (first.times, row.times))
    best = campaign.incumbent.round.number if campaign.incumbent else None
    for shown, basis, arms in (
        (final_of(campaign), AT_THE_END, (1, best)),
        (row.measured, DIRECT, (row.against, row.number)),
        (first.measured, DIRECT, (first.against, first.number)),
    ):
        if shown and shown.gain and {first.number, row.number} == set(arms):
            found = shown if arms[0] == first.number else shown.inverse
            return versus(column, basis, (found.incumbent_times, found.times), shown=found)
    keys = [one.verdict.evaluation_id for one in (first, row) if one.verdict]
    legs = legs_of(key for key in keys if key)
    return versus(column, UNPAIRED, (first.times, row.times), [*legs.values()])
