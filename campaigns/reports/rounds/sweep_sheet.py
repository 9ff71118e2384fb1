"""A round's sweep as its panel shows it: one sentence, two charts, and what failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from campaigns.charts import sweep_course, sweep_strips
from campaigns.charts.marks import GLYPHS
from campaigns.charts.sweep_course import CourseChart, Finalist
from campaigns.charts.sweep_strips import StripsChart
from campaigns.charts.swept import SweptPoint
from campaigns.evaluator.contract import Outcome
from campaigns.models import EvaluationState
from campaigns.records.round.sweeps import ScreenedPoint, SweepRecord, reasons_of
from campaigns.reports.campaign.sheet import WorkerHeartbeat, heartbeat_of
from campaigns.reports.rounds.sweep_words import (
    FailureGroup,
    SweepPace,
    changed_words,
    coverage_of,
    failure_groups,
    lead_of,
    outcome_counts,
    pace_of,
    value_words,
)
from campaigns.rules.verdict.decision import VerdictWord

# Kinds of failure that the panel shows; the table has all.
SHOWN_GROUPS = 6
# A parameter of an address that filters by a knob.
KNOB = "knob."
TIME_STEP = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class SweepSheet:
    """pace, heartbeat: while the search is under way. broken: why it broke off, if it did."""

    record: SweepRecord
    lead: str
    coverage: str
    pace: SweepPace | None
    heartbeat: WorkerHeartbeat | None
    best_words: str
    ended: str
    broken: str
    counts: tuple[tuple[str, int], ...]
    strips: StripsChart | None
    course: CourseChart | None
    failures: tuple[FailureGroup, ...]
    more_failures: int
    version: str


def sweep_sheet(record: SweepRecord, now: datetime, table: str) -> SweepSheet:
    """Read it once more for the reasons of what failed. table: the address of all points."""
    points = [_charted(record, point) for point in record.points]
    groups = failure_groups(record, reasons_of(record))
    run = record.evaluation
    broken = run is not None and run.outcome not in ("", Outcome.PASSED)
    reason = run.reason if run else ""
    is_open = run is None or run.state != EvaluationState.DONE

    def of_value(knob: str, value: str) -> str:
        return f"{table}?{urlencode({KNOB + knob: value})}"

    def of_point(number: int) -> str:
        return f"{table}?number={number}"

    return SweepSheet(
        record=record,
        lead=lead_of(record),
        coverage=coverage_of(record),
        pace=pace_of(record, now),
        heartbeat=heartbeat_of(record.round.campaign, now) if record.is_running else None,
        best_words=changed_words(record, record.best) if record.best else "",
        ended="" if broken else reason or _waiting(record),
        broken=reason if broken else "",
        counts=tuple(outcome_counts(record)),
        strips=sweep_strips.build(points, _knobs(record), of_value, by_cost=not is_open),
        course=sweep_course.build(points, _finalists(record), of_point),
        failures=tuple(groups[:SHOWN_GROUPS]),
        more_failures=max(0, len(groups) - SHOWN_GROUPS),
        version=sweep_version(record, now),
    )


def _waiting(record: SweepRecord) -> str:
    """Of a search that was broken off, and goes on with the points it has."""
    run = record.evaluation
    return f"not yet: it {run.doing}" if run and run.state == EvaluationState.QUEUED else ""


def sweep_version(record: SweepRecord, now: datetime) -> str:
    """What changes when the panel would; while nothing comes, its times still go on."""
    run = record.evaluation
    state = run.state if run else "none"
    spent = now - run.started_at if run and run.started_at and record.is_running else timedelta()
    step = spent // TIME_STEP
    return f"{record.round.state}.{state}.{len(record.points)}.{step}"


def _charted(record: SweepRecord, point: ScreenedPoint) -> SweptPoint:
    values = {name: value_words(value) for name, value in point.params.items()}
    return SweptPoint(point.number, values, point.time_us, point.ended_early)


def _knobs(record: SweepRecord) -> Mapping[str, list[str]]:
    return {knob.name: [value_words(v) for v in knob.values] for knob in record.knobs}


def _finalists(record: SweepRecord) -> list[Finalist]:
    """Those before the chosen one did not pass their trial; those behind it were not needed."""
    chosen = record.round.chosen.ordinal if record.round.chosen else 0
    verdict = getattr(record.round, "verdict", None)
    found = []
    for point in record.finalists:
        ordinal, word = point.candidate or 0, VerdictWord.RUNNING
        if verdict:
            word = VerdictWord(verdict.word) if ordinal == chosen else VerdictWord.REJECTED
        if not verdict or ordinal <= chosen:
            told = f"{word.words} by the trial" if verdict else "for the trial"
            told = f"candidate {ordinal}, {told}"
            found.append(Finalist(point.number, "#candidates", GLYPHS[word], told))
    return found
