"""The best of several candidates or points go to trial: a screen ranks, only a trial decides."""

from __future__ import annotations

import math
import statistics

from django.db import transaction

from campaigns.evaluator.contract import Outcome, Report
from campaigns.models import (
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundState,
    Sweep,
    SweepPoint,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.records.cases import cases_of
from campaigns.records.target.device_limits import campaign_space
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.case_limits import Level, level_words
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.spaces.render import render
from campaigns.spaces.space import Space
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.open_round import add_candidate


def screen(round_: Round) -> Next:
    """Pick the fastest of the screened candidates and queue its deciding evaluation.

    When none passed, the round gets its verdict from the first one that failed by itself.
    """
    if Sweep.objects.filter(round=round_).exists():
        return take_finalists(round_)
    done = [_latest(candidate) for candidate in round_.candidates.prefetch_related("evaluations")]
    if any(evaluation.state != EvaluationState.DONE for evaluation in done):
        return NOTHING  # a round that another worker has opened since the caller's query
    ranked = sorted(done, key=_speed, reverse=True)
    best = ranked[0]
    passed = best.outcome == Outcome.PASSED
    if not passed:
        # One that was refused before it was built has no outcome, and failed by itself.
        own = [e for e in done if not e.outcome or not Outcome(e.outcome).tells_nothing]
        best = own[0] if own else done[0]
    with transaction.atomic():
        if not move(round_, RoundState.SCREENED, chosen=best.candidate):
            return NOTHING
        if passed:
            Evaluation.objects.create(
                candidate=best.candidate, against=round_.against, kind=EvaluationKind.DECIDE
            )
        whole, cases = round_.campaign.cases, cases_of(round_.campaign, Level.QUICK)
        told = level_words(Level.QUICK, len(cases), len(whole))
        message = (
            f"round {round_.number}: {best.candidate.label} is the best of {len(done)}, {told}"
        )
        if not passed:
            message = f"round {round_.number}: none of {len(done)} candidates passed"
        record(round_.campaign, "screened", message, round=round_)
    return AGAIN


def _latest(candidate: Candidate) -> Evaluation:
    """The last attempt of a candidate's screening."""
    screens = [e for e in candidate.evaluations.all() if e.kind == EvaluationKind.SCREEN]
    latest: Evaluation = max(screens, key=lambda e: e.attempt)
    return latest


def _speed(evaluation: Evaluation) -> float:
    """Geometric mean of the cases' median paired ratios; zero for what did not pass."""
    report = evaluation.facts
    if evaluation.outcome != Outcome.PASSED or report is None:
        return 0.0
    return geomean(_ratio(report, index) for index in range(len(report.cases)))


def _ratio(report: Report, index: int) -> float:
    case = report.cases[index]
    if case.candidate is None or case.incumbent is None:
        return math.ulp(0.0)
    old = decisive_samples(case, case.incumbent)
    pairs = zip(old, decisive_samples(case, case.candidate), strict=True)
    return statistics.median(max(a, 1e-9) / max(b, 1e-9) for a, b in pairs)


# The best three, and any whose time is within this share of the best one's, as noise would have it.
FINALISTS, NEAR, MOST = 3, 1.01, 6


def take_finalists(round_: Round) -> Next:
    """Store the best points as candidates, and queue the first one's deciding evaluation.

    When nothing but the source as it is passed, that is measured: the verdict then says no change.
    """
    sweep = round_.sweep
    best = finalists_of(sweep)
    base = round_.candidates.get(ordinal=1).source
    space = campaign_space(round_.campaign, base)
    with transaction.atomic():
        if not move(round_, RoundState.SCREENED):
            return NOTHING
        made = [
            add_candidate(
                round_,
                ordinal,
                _label(point, space),
                render(base, space, point.params),
                point.params,
            )
            for ordinal, point in enumerate(best, 2)
        ] or list(round_.candidates.all())
        claim(Round.objects.filter(pk=round_.pk), chosen=made[0])
        _decide(round_, made[0])
        tried = sweep.points.count()
        message = f"round {round_.number}: {tried} points screened, {len(best)} go to trial"
        record(round_.campaign, "screened", message, round=round_)
    return AGAIN


def hand_on(round_: Round) -> Next | None:
    """Queue the trial of the next finalist; None where there is none left."""
    if round_.state != RoundState.SCREENED or round_.chosen is None:
        return None
    untried = round_.candidates.exclude(evaluations__kind=EvaluationKind.DECIDE)
    following = untried.filter(ordinal__gt=round_.chosen.ordinal).first()
    if following is None or not Sweep.objects.filter(round=round_).exists():
        return None
    with transaction.atomic():
        mine = Round.objects.filter(pk=round_.pk, state=round_.state, chosen=round_.chosen)
        if not claim(mine, chosen=following):
            return NOTHING
        _decide(round_, following)
        message = f"round {round_.number}: {following.label} goes to trial"
        record(round_.campaign, "handed_on", message, round=round_)
    return AGAIN


def finalists_of(sweep: Sweep) -> list[SweepPoint]:
    """The points to try in full, the fastest first; none that is behind the source as it is."""
    passed = sweep.points.filter(outcome=Outcome.PASSED, ended_early=False, number__gt=1)
    as_it_is = sweep.points.filter(number=1).first()
    if as_it_is is not None and as_it_is.time_us is not None:
        passed = passed.filter(time_us__lte=NEAR * as_it_is.time_us)
    ranked = list(passed.exclude(time_us=None).order_by("time_us", "number")[:MOST])
    return [
        point
        for at, point in enumerate(ranked)
        if at < FINALISTS or (point.time_us or 0) <= NEAR * (ranked[0].time_us or 0)
    ]


def _label(point: SweepPoint, space: Space) -> str:
    changed = {k: v for k, v in point.params.items() if v != space.defaults[k]}
    return ", ".join(f"{name} {value}" for name, value in changed.items())[:200] or "as it is"


def _decide(round_: Round, candidate: Candidate) -> Evaluation:
    made: Evaluation = Evaluation.objects.create(
        candidate=candidate,
        against=round_.against,
        kind=EvaluationKind.DECIDE,
        state=EvaluationState.QUEUED,
    )
    return made
