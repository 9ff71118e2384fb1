"""Choose the candidate of a sweep that is worth a full measurement."""

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
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.cases import cases_of
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.case_limits import Level, level_words
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.steps.rounds.finalists import take_finalists
from campaigns.workers.notify import AGAIN, NOTHING, Next


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
