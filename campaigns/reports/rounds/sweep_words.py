"""What pages, tables and commands say of a sweep: values, what was found, how far it got."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from campaigns.evaluator.contract import Outcome, Param
from campaigns.models import EvaluationState
from campaigns.records.sweeps import ScreenedPoint, SweepRecord
from campaigns.reports.campaign.eta import spoken
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
    if not tried:
        return f"Nothing has been screened yet: the search {_doing(record)}."
    took = _took(record)
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


def _doing(record: SweepRecord) -> str:
    return record.evaluation.doing if record.evaluation else "is not queued yet"


def _took(record: SweepRecord) -> str:
    run = record.evaluation
    if run is None or run.state != EvaluationState.DONE or not (run.started_at and run.finished_at):
        return ""
    return spoken((run.finished_at - run.started_at) / timedelta(seconds=1))


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
    told = f"{tried:,} of {size_words(size)} points, {_percent(tried, size)}"
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


def _percent(tried: int, size: int) -> str:
    part = 100 * tried / size if size else 0.0
    return "less than 0.1 %" if 0 < part < 0.1 else f"{digits(part, 2)} %"


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
