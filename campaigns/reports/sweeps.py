"""A round's sweep as page, command and API show it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from campaigns.charts import sweep_course, sweep_strips
from campaigns.charts.marks import GLYPHS
from campaigns.charts.sweep_course import Finalist
from campaigns.charts.swept import SweptPoint
from campaigns.evaluator.contract import Outcome, Param
from campaigns.models import EvaluationState
from campaigns.records.evaluations import outcomes_of_trials
from campaigns.records.sweeps import ScreenedPoint, SweepRecord, reasons_of
from campaigns.reports.progress import spoken
from campaigns.reports.sheet import heartbeat_of
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import counted, digits, duration, faster

AS_IT_IS = "the source as it is"
# Too few to say how fast it goes on.
FEWEST_FOR_RATE = 10
# A size with more digits is written with a power of ten.
MOST_DIGITS = 9
_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class SweepPace:
    """A search under way. per_minute, left_s: None while too few are done to say."""

    done: int
    most: int
    per_minute: float | None
    left_s: float | None
    most_left_s: float

    @property
    def rate_words(self) -> str:
        return "–" if self.per_minute is None else digits(self.per_minute, 2)

    @property
    def is_over(self) -> bool:
        return self.left_s == 0 or self.most_left_s == 0

    @property
    def left_words(self) -> str:
        most = f"at most {spoken(self.most_left_s)}"
        if self.left_s is None:
            return f"too early to say; {most}"
        if self.is_over:
            return "it ends now"
        return f"about {spoken(self.left_s)}" if self.left_s < self.most_left_s else most


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Variants that failed alike. message: of the first one, whole."""

    outcome: str
    count: int
    number: int
    message: str

    @property
    def first_line(self) -> str:
        return self.message.strip().partition("\n")[0] or "no reason was given"

    @property
    def has_more(self) -> bool:
        return "\n" in self.message.strip()


def value_words(value: Param) -> str:
    """A knob's value as text: "64", "(none)" for no flag."""
    return "(none)" if value == "" else str(value)


def words_of(outcome: str) -> str:
    return outcome.replace("_", " ")


def outcome_counts(record: SweepRecord) -> list[tuple[str, int]]:
    """Outcome → how many, passed ones first, then the most frequent."""
    counts = Counter(point.outcome for point in record.points)
    return sorted(counts.items(), key=lambda item: (item[0] != Outcome.PASSED, -item[1], item[0]))


def gain_over_source(record: SweepRecord, point: ScreenedPoint | None) -> float | None:
    """How much faster than the source as it is, a fraction; None where one has no full time."""
    source = record.source
    if source is None or point is None or not point.is_ranked:
        return None
    return float(source.time_us or 0) / float(point.time_us or 1) - 1


def lead_of(record: SweepRecord) -> str:
    """The one sentence that a page begins with."""
    tried, best = len(record.points), record.best
    run = record.evaluation
    if not tried:
        doing = run.doing if run else "is not queued yet"
        return f"Nothing has been screened yet: the search {doing}."
    took = ""
    if run and run.state == EvaluationState.DONE and run.started_at and run.finished_at:
        took = spoken((run.finished_at - run.started_at) / timedelta(seconds=1))
    head = f"{counted(tried, 'variant')} screened" + (f" in {took}" if took else " so far")
    if best is None:
        return f"{head}: none has a time."
    time = duration(float(best.time_us or 0))
    gain = gain_over_source(record, best)
    if gain is None:
        return f"{head}: the best takes {time}; {AS_IT_IS} has no time to compare with."
    if best is record.source:
        return f"{head}: none is faster than {AS_IT_IS}, {time}."
    return f"{head}: the best takes {time}, {faster(gain)} than {AS_IT_IS}."


def pace_of(record: SweepRecord, now: datetime) -> SweepPace | None:
    """None where no search is under way. A search that was broken off is timed by its last part."""
    run, plan = record.evaluation, record.plan
    if run is None or not record.is_running or run.started_at is None:
        return None
    spent_s = max((now - run.started_at) / timedelta(seconds=1), 1.0)
    # What other devices have tried for it is in evaluations that came later.
    fresh = sum(1 for point in record.points if point.evaluation_id >= run.pk)
    most_left_s = max(plan.most_s - spent_s, 0.0)
    done = len(record.points)
    if fresh < FEWEST_FOR_RATE:
        return SweepPace(done, plan.most_points, None, None, most_left_s)
    rate = fresh / spent_s
    left_s = max(plan.most_points - done, 0) / rate
    return SweepPace(done, plan.most_points, rate * 60, left_s, most_left_s)


def coverage_of(record: SweepRecord) -> str:
    """How much of the space was tried, and which values never."""
    tried, size = len(record.points), record.size
    part = 100 * tried / size if size else 0.0
    percent = "less than 0.1 %" if 0 < part < 0.1 else f"{digits(part, 2)} %"
    told = f"{tried:,} of {size_words(size)} points, {percent}"
    counts = {
        f"{knob.name} {value_words(value)}": sum(
            1 for point in record.points if point.params.get(knob.name) == value
        )
        for knob in record.knobs
        for value in knob.values
    }
    if not counts or not tried:
        return f"{told}."
    never = [name for name, count in counts.items() if not count]
    if never:
        shown = ", ".join(never[:3])
        more = f" and {len(never) - 3} more" if len(never) > 3 else ""
        return f"{told}. Never tried: {shown}{more}."
    rarest = min(counts, key=lambda name: counts[name])
    times = counted(counts[rarest], "time")
    return f"{told}. Each value of each knob was tried, the rarest, {rarest}, {times}."


def size_words(size: int) -> str:
    """A number of points: "22,500", "1.00 × 10^12"."""
    power = len(str(size)) - 1
    return f"{size:,}" if power < MOST_DIGITS else f"{digits(size / 10**power)} × 10^{power}"


def failure_groups(record: SweepRecord, reasons: dict[int, str]) -> list[FailureGroup]:
    """Failures that differ in numbers alone are one group; the largest first."""
    found: dict[tuple[str, str], list[int]] = {}
    for point in record.points:
        if point.outcome != Outcome.PASSED:
            reason = reasons.get(point.number, "")
            shape = _NUMBER.sub("#", reason.strip().partition("\n")[0])
            found.setdefault((point.outcome, shape), []).append(point.number)
    groups = (
        FailureGroup(outcome, len(numbers), numbers[0], reasons.get(numbers[0], ""))
        for (outcome, _), numbers in found.items()
    )
    return sorted(groups, key=lambda group: -group.count)


def changed_words(record: SweepRecord, point: ScreenedPoint) -> str:
    """A variant by what it changes: "THREADS 512, flags -O3"."""
    changed = record.changed(point)
    return ", ".join(f"{k} {value_words(v)}" for k, v in changed.items()) or AS_IT_IS


def sweep_facts(record: SweepRecord) -> dict[str, Any]:
    """The same as data."""
    best, plan = record.best, record.plan
    return {
        "strategy": plan.strategy,
        "seed": plan.seed,
        "size": record.size,
        "knobs": plan.knobs,
        "most_points": plan.most_points,
        "most_s": plan.most_s,
        "tried": len(record.points),
        "outcomes": dict(outcome_counts(record)),
        "source_us": record.source.time_us if record.source else None,
        "best": {"number": best.number, "time_us": best.time_us, "params": dict(best.params)}
        if best
        else None,
        "finalists": [{"number": p.number, "candidate": p.candidate} for p in record.finalists],
        "state": record.evaluation.state if record.evaluation else None,
        "ended": record.evaluation.reason if record.evaluation else "",
    }


# Kinds of failure that the panel shows; the table has all.
SHOWN_GROUPS = 6
# A parameter of an address that filters by a knob.
KNOB = "knob."
TIME_STEP = timedelta(seconds=10)


def sweep_sheet(record: SweepRecord, now: datetime, table: str) -> dict[str, Any]:
    """What its panel shows. table: the address of all points.

    pace, heartbeat: while the search is under way. broken: why it broke off, if it did. It is read
    once more for the reasons of what failed.
    """
    points = [
        SweptPoint(
            point.number,
            {name: value_words(value) for name, value in point.params.items()},
            point.time_us,
            point.ended_early,
        )
        for point in record.points
    ]
    knobs = {knob.name: [value_words(v) for v in knob.values] for knob in record.knobs}
    groups = failure_groups(record, reasons_of(record))
    run = record.evaluation
    broken = run is not None and run.outcome not in ("", Outcome.PASSED)
    reason = run.reason if run else ""
    # One that was broken off goes on with the points it has.
    waiting = f"not yet: it {run.doing}" if run and run.state == EvaluationState.QUEUED else ""
    is_open = run is None or run.state != EvaluationState.DONE

    def of_value(knob: str, value: str) -> str:
        return f"{table}?{urlencode({KNOB + knob: value})}"

    def of_point(number: int) -> str:
        return f"{table}?number={number}"

    return {
        "record": record,
        "lead": lead_of(record),
        "coverage": coverage_of(record),
        "pace": pace_of(record, now),
        "heartbeat": heartbeat_of(record.round.campaign, now) if record.is_running else None,
        "best_words": changed_words(record, record.best) if record.best else "",
        "ended": "" if broken else reason or waiting,
        "broken": reason if broken else "",
        "counts": outcome_counts(record),
        "strips": sweep_strips.build(points, knobs, of_value, by_cost=not is_open),
        "course": sweep_course.build(points, _finalists(record), of_point),
        "failures": groups[:SHOWN_GROUPS],
        "more_failures": max(0, len(groups) - SHOWN_GROUPS),
        "version": sweep_version(record, now),
    }


def sweep_version(record: SweepRecord, now: datetime) -> str:
    """What changes when the panel would; while nothing comes, its times still go on."""
    run = record.evaluation
    state = run.state if run else "none"
    spent = now - run.started_at if run and run.started_at and record.is_running else timedelta()
    step = spent // TIME_STEP
    return f"{record.round.state}.{state}.{len(record.points)}.{step}"


def _finalists(record: SweepRecord) -> list[Finalist]:
    """Beside the chosen one, those that failed in their trial or were not the best of it."""
    chosen = record.round.chosen.ordinal if record.round.chosen else 0
    tried = outcomes_of_trials(record.round) if record.finalists else {}
    verdict = getattr(record.round, "verdict", None)
    found, own = [], record.round
    shown = reverse("round_tab", args=[own.campaign_id, own.number, "log"]) + "#candidates"
    for point in record.finalists:
        ordinal, word = point.candidate or 0, VerdictWord.RUNNING
        told = "for the trial"
        if verdict and ordinal == chosen:
            word = VerdictWord(verdict.word)
            told = f"{word.words} by the trial"
        elif verdict:
            passed = tried.get(ordinal) == Outcome.PASSED
            word = VerdictWord.NO_CHANGE if passed else VerdictWord.REJECTED
            told = "not the best of its trial" if passed else f"{word.words} by the trial"
        if not verdict or ordinal in tried:
            told = f"candidate {ordinal}, {told}"
            found.append(Finalist(point.number, shown, GLYPHS[word], told))
    return found
