"""What a campaign's rounds add up to: trend, limits, copies, and what reaches real use (R21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from campaigns.records.campaigns import stop_policy_of
from campaigns.records.evaluations import copies_in, report_of
from campaigns.records.rounds import declared_of
from campaigns.records.stop_history import restart_of, restarted_after
from campaigns.records.time_spent import time_spent
from campaigns.reports.rows import RoundRow
from campaigns.reports.sheet import CampaignSheet
from campaigns.rules.noise.directions import (
    Halves,
    Times,
    both_halves,
    combined_rate,
    times_by_step,
)
from campaigns.rules.noise.gain import Gain, geomean
from campaigns.rules.stop.policy import Counter, History, count_streaks, counters
from campaigns.rules.verdict.buckets import AcceptedRound, Audit, Declared, audit
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.report_words import copied_words

TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one direction over all shapes, in the trend's unit: geometric mean and best."""

    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One timed round. step: both directions together; forward itself where there is one only.

    gain: of the whole over its incumbent; None of round 1 and of what was not accepted.
    """

    row: RoundRow
    forward: Rates | None
    backward: Rates | None
    step: Rates | None
    gain: Gain | None


@dataclass(frozen=True, slots=True)
class Trend:
    """unit: TFLOPS, or GB/s where memory bounds every case."""

    unit: str
    has_backward: bool
    rows: tuple[TrendRow, ...]

    def of(self, number: int) -> TrendRow | None:
        """The row of a round; None where it was not timed on every case."""
        return next((row for row in self.rows if row.row.number == number), None)


def moves_bytes(sheet: CampaignSheet) -> bool:
    """Whether memory bounds every case, so that bytes per second are what counts."""
    return {case.bound for case in sheet.target.cases.values()} == {"memory"}


def trend_of(sheet: CampaignSheet, rows: Iterable[RoundRow] | None = None) -> Trend:
    """All rounds, or those of `rows`, that were timed on every case and are not called invalid."""
    halves = sheet.campaign.problem.halves
    by_bytes = moves_bytes(sheet)
    work = {
        name: case.bytes / GIGA if by_bytes else case.flops / TERA
        for name, case in sheet.target.cases.items()
    }
    found = []
    for row in sheet.rows if rows is None else rows:
        if not row.times or len(row.times) < len(row.results):
            continue
        gain = row.gain if row.is_kept and not row.is_baseline else None
        found.append(TrendRow(row, *_rates(times_by_step(row.times, halves), work, halves), gain))
    has_backward = any(row.backward is not None for row in found)
    return Trend("GB/s" if by_bytes else "TFLOPS", has_backward, tuple(found))


def _rates(
    times: Times, work: Mapping[str, float], halves: Halves
) -> tuple[Rates | None, Rates | None, Rates | None]:
    """Forward, backward and both together, per second of `work`; None where work is not known."""
    steps = both_halves(tuple(halves), halves)
    forward, backward, step = [], [], []
    for name, time_us in times.forward.items():
        case, other = steps[name] if times.backward else (name, "")
        if not work.get(case) or (other and not work.get(other)):
            return None, None, None
        forward.append(work[case] / time_us * 1e6)
        if other:
            backward.append(work[other] / times.backward[name] * 1e6)
            halves_of = (work[case], forward[-1]), (work[other], backward[-1])
            step.append(combined_rate(*halves_of))
    whole, back, both = (
        Rates(geomean(rates), max(rates)) if rates else None for rates in (forward, backward, step)
    )
    return whole, back, both or whole


def copies_of(sheet: CampaignSheet) -> tuple[str, ...]:
    """A sentence for the best, and one for v0; none where nothing is copied."""
    first = sheet.baseline if sheet.baseline is not sheet.best else None
    told = []
    for row, whose in ((sheet.best, "the best"), (first, "v0")):
        evaluation = row.verdict.evaluation if row and row.verdict else None
        report = report_of(evaluation) if evaluation and copies_in(evaluation) else None
        told.append(copied_words(report, whose=whose) if report else "")
    return tuple(filter(None, told))


def limits_of(sheet: CampaignSheet, now: datetime) -> tuple[Counter, ...]:
    """The counters by which the next round would be the last; empty without a policy."""
    campaign = sheet.campaign
    if not campaign.stop_policy:
        return ()
    restart, spent = restart_of(campaign), time_spent(campaign, now)
    decisions = [(row.word, Reason(row.verdict.reason)) for row in sheet.rows if row.verdict]
    streaks = count_streaks(decisions, restarted_after(restart))
    history = History(
        rounds=sheet.judged,
        consecutive_regressions=streaks.consecutive_regressions,
        consecutive_non_accepts=streaks.consecutive_non_accepts,
        wall_h=spent.wall_h,
        device_h=spent.device_h,
        restart_settled=restart is not None,
    )
    return counters(stop_policy_of(campaign), history)


def audit_of(sheet: CampaignSheet) -> Audit | None:
    """None while nothing was accepted after the baseline."""
    kept = [
        AcceptedRound(row.number, row.gain, declared_of(row.round) or Declared(None))
        for row in sheet.rows
        if row.is_kept and row.number > 1 and row.gain is not None
    ]
    if not kept:
        return None
    return audit(kept, sheet.total)
