"""The sample campaign with a round that searches: invented points, one of each outcome."""

from __future__ import annotations

import math
import random
from unittest.mock import patch

from django.utils import timezone

from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.models import Campaign, Evaluation, EvaluationKind, EvaluationState, SweepPoint
from campaigns.models.transitions import claim
from campaigns.proposers.base import Draft, SweepPlan, Variant
from campaigns.records.target.device_limits import device_limits
from campaigns.spaces.find import space_of
from campaigns.spaces.space import Space
from campaigns.steps.measuring.results import record_report
from tests.campaigns import sample

ROUND, POINTS = 3, 60
SEARCH = sample.Idea("search.space", "Sweep block, unrolling and flags", sample.both(1.31))
ENDED = "After 60 trials the next one is expected to gain 0.04%, less than 0.10%."
# number → outcome and reason of the points that have no time.
FAILED = {
    5: ("build_failed", f"ptxas fatal: (C7600) 96 registers are too few\n{sample.HOSTILE}"),
    9: ("build_failed", f"ptxas fatal: (C7600) 32 registers are too few\n{sample.HOSTILE}"),
    14: ("pruned", "it needs 81,920 bytes of shared memory a block; 49,152 are there"),
    17: ("pruned", "it needs 65,536 bytes of shared memory a block; 49,152 are there"),
    22: ("wrong_result", f"1024x1024: 1,024 of 1,048,576 values are wrong {sample.HOSTILE}"),
    31: ("crashed", "an illegal memory access was encountered"),
    38: ("timed_out", "no answer within 10 s"),
    44: ("cheated", "the output was there before the call"),
    47: ("broken_host", "the device was lost"),
}
EARLY = {12, 27, 40}


class SweepBench(sample.Bench):
    """Proposes a search in round 3, and makes its points up."""

    def propose(self, campaign: Campaign) -> Draft | None:
        if campaign.rounds.count() + 1 != ROUND:
            return super().propose(campaign)
        source = campaign.incumbent.source
        space = space_in(campaign)
        plan = SweepPlan(
            knobs=tuple((knob.name, knob.values, knob.default) for knob in space.knobs),
            size=space.size,
            strategy="forest",
            seed=7,
            seeds=(),
            most_points=4 * POINTS,
            most_s=90.0,
        )
        return Draft(sample._hypothesis(SEARCH), (Variant("as it is", source),), plan)

    def measure(self, evaluation: Evaluation) -> None:
        if evaluation.kind != EvaluationKind.SWEEP:
            if evaluation.candidate.params:
                self.labels[evaluation.candidate.label] = SEARCH
            super().measure(evaluation)
            return
        claim(
            Evaluation.objects.filter(pk=evaluation.pk),
            state=EvaluationState.RUNNING,
            started_at=timezone.now(),
        )
        evaluation.refresh_from_db()
        add_points(evaluation, POINTS)
        report = Report(str(evaluation.pk), Outcome.PASSED, Phase.DONE, ENDED)
        record_report(evaluation, report)


def build_swept(*, points: int | None = None) -> Campaign:
    """Round 3 has searched and was judged. points: it searches still, with so many so far."""
    with patch("tests.campaigns.sample.Bench", SweepBench):
        made = sample.build_sample(rounds=ROUND if points is None else ROUND - 1, running=True)
    if points is not None:
        add_points(search_in(made), points)
    return made


def search_in(campaign: Campaign) -> Evaluation:
    return Evaluation.objects.get(candidate__round__campaign=campaign, kind=EvaluationKind.SWEEP)


def space_in(campaign: Campaign) -> Space:
    return space_of(campaign.incumbent.source, campaign.backend, device_limits(campaign.platform))


def add_points(evaluation: Evaluation, count: int, *, first: int = 1) -> None:
    """Points first, first + 1, …; the first of all is the source as it is."""
    plan, space = evaluation.candidate.round.sweep, space_in(evaluation.campaign)
    dice, seen, rows = random.Random(plan.seed), set[str](), []
    while len(rows) < first - 1 + count:
        point = dict(space.defaults) if not rows else space.sample(dice)
        assert point is not None
        if str(point) not in seen or count > space.size // 2:
            seen.add(str(point))
            rows.append(_row(evaluation, len(rows) + 1, point, dice))
    SweepPoint.objects.bulk_create(rows[first - 1 :])


def _row(
    evaluation: Evaluation, number: int, params: dict[str, object], dice: random.Random
) -> SweepPoint:
    outcome, reason = FAILED.get(number, ("passed", ""))
    row = SweepPoint(
        sweep=evaluation.candidate.round.sweep,
        evaluation=evaluation,
        number=number,
        params=params,
        outcome=outcome,
        reason=reason,
        ended_early=number in EARLY,
        build_s=round(dice.uniform(0.4, 1.9), 3),
        screen_s=round(dice.uniform(0.01, 0.06), 3),
    )
    if outcome != "pruned" and outcome != "build_failed":
        row.facts = {"registers": 24 + 8 * (number % 12), "spill_bytes": 8 * (number % 3)}
    if outcome == "passed":
        factor = (9.0 if row.ended_early else 1.0) * _factor(params) * dice.gauss(1, 0.01)
        row.times_us = {"4096x4096": 50.2 * factor}
        row.time_us = row.times_us["4096x4096"]
    return row


def _factor(params: dict[str, object]) -> float:
    """What a person would expect: fewer large blocks, some unrolling, no limit on registers."""
    threads, unroll = int(str(params["THREADS"])), int(str(params.get("unroll_j", 0)))
    return (
        (1 + 0.22 * abs(math.log2(threads / 512)) ** 1.3)
        * (1 - 0.1 * min(unroll, 8) / 8)
        * (1.35 if int(str(params.get("min_blocks", 0))) >= 8 else 1.0)
        / 1.12
    )
