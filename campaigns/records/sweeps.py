"""A round's sweep, read from its rows: what was planned, and every point that was tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from campaigns.evaluator.contract import Outcome, Param
from campaigns.models import (
    Campaign,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundState,
    Sweep,
    SweepPoint,
)

SOURCE_POINT = 1  # the source as it was
# A build's facts that a table has a column for, with its words.
FACTS = {
    "registers": "registers",
    "spill_bytes": "spilled, B",
    "shared_bytes": "shared memory, B",
    "stack_bytes": "stack, B",
}
_COLUMNS = (
    *("number", "params", "outcome", "time_us", "ended_early"),
    *("facts", "build_s", "screen_s", "evaluation_id"),
)


@dataclass(frozen=True, slots=True)
class SweptKnob:
    """One knob: the values to choose from, and the one that the source has."""

    name: str
    values: tuple[Param, ...]
    default: Param


@dataclass(frozen=True, slots=True)
class ScreenedPoint:
    """One variant. time_us: None without a time. candidate: its ordinal, of one put to trial."""

    number: int
    params: Mapping[str, Param]
    outcome: str
    time_us: float | None
    ended_early: bool
    facts: Mapping[str, int]
    build_s: float
    screen_s: float
    evaluation_id: int
    candidate: int | None

    @property
    def is_ranked(self) -> bool:
        """Whether all of its cases were timed to the end."""
        return self.time_us is not None and not self.ended_early


@dataclass(frozen=True)
class SweepRecord:
    """One sweep. size: how many points its space has, legal or not. points: in order of asking.

    evaluation: its search, or the last attempt at that; None before one is queued.
    """

    round: Round
    plan: Sweep
    knobs: tuple[SweptKnob, ...]
    size: int
    points: tuple[ScreenedPoint, ...]
    evaluation: Evaluation | None

    @cached_property
    def source(self) -> ScreenedPoint | None:
        """The source as it was, once it has a time."""
        return next((p for p in self.points if p.number == SOURCE_POINT and p.is_ranked), None)

    @cached_property
    def best(self) -> ScreenedPoint | None:
        """The fastest point, the source as it was among them."""
        ranked = (point for point in self.points if point.is_ranked)
        return min(ranked, key=lambda point: (point.time_us, point.number), default=None)

    @cached_property
    def finalists(self) -> tuple[ScreenedPoint, ...]:
        """The points that became candidates, in the order of their trial."""
        tried = (point for point in self.points if point.candidate)
        return tuple(sorted(tried, key=lambda point: point.candidate or 0))

    @property
    def is_running(self) -> bool:
        return self.evaluation is not None and self.evaluation.state == EvaluationState.RUNNING

    def changed(self, point: ScreenedPoint) -> dict[str, Param]:
        """In what a point differs from the source as it was."""
        return {
            knob.name: point.params[knob.name]
            for knob in self.knobs
            if point.params.get(knob.name, knob.default) != knob.default
        }


def sweep_of(round_: Round) -> SweepRecord | None:
    """The sweep of a round; None where it has none.

    Four queries however many points there are, three where the round was read with its `sweep`.
    """
    plan: Sweep | None = getattr(round_, "sweep", None) if round_.traits.is_screened else None
    if plan is None:
        return None
    # Candidate 1 is the source as it is, which the later ones are made of.
    later = round_.candidates.filter(ordinal__gt=1).values_list("params", "ordinal")
    tried = {_key(params): ordinal for params, ordinal in later}
    rows = SweepPoint.objects.filter(sweep=plan).order_by("number").values(*_COLUMNS)
    return SweepRecord(
        round=round_,
        plan=plan,
        knobs=knobs_of(plan),
        size=int(plan.size),
        points=tuple(
            ScreenedPoint(**row, candidate=tried.get(_key(row["params"]))) for row in rows
        ),
        evaluation=search_of(round_),
    )


def knobs_of(plan: Sweep) -> tuple[SweptKnob, ...]:
    """What is searched over."""
    return tuple(
        SweptKnob(knob["name"], tuple(knob["values"]), knob["default"]) for knob in plan.knobs
    )


def search_of(round_: Round) -> Evaluation | None:
    """The evaluation that searches, without its report."""
    rows = Evaluation.objects.filter(candidate__round=round_, kind=EvaluationKind.SWEEP)
    return rows.defer("report").order_by("attempt").last()


def is_live(campaign: Campaign, round_: Round) -> bool:
    """Whether the search goes on, or what comes of it is not known yet."""
    return round_.state == RoundState.OPEN and not campaign.is_finished


def reasons_of(record: SweepRecord, numbers: Iterable[int] | None = None) -> dict[int, str]:
    """Number → why the point has no time. numbers: of these alone, else of each that failed."""
    rows = SweepPoint.objects.filter(sweep=record.plan)
    failed = rows.exclude(outcome=Outcome.PASSED)
    rows = failed if numbers is None else rows.filter(number__in=numbers)
    return dict(rows.order_by("number").values_list("number", "reason"))


def case_times_of(record: SweepRecord) -> dict[int, dict[str, float]]:
    """Number → case → µs, of the screen."""
    rows = SweepPoint.objects.filter(sweep=record.plan)
    return dict(rows.values_list("number", "times_us"))


def _key(params: Mapping[str, Any]) -> frozenset[tuple[str, Any]]:
    return frozenset(params.items())
