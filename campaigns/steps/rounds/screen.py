"""The best of several candidates or points go to trial: a screen ranks, only a trial decides."""

from __future__ import annotations

import math
import statistics

from django.db import transaction
from django.db.models import Exists, Q, QuerySet

from campaigns.evaluator.contract import CaseReport, Outcome
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
from campaigns.records.evaluations import next_attempt, untried
from campaigns.records.target.device_limits import campaign_space
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.case_limits import Level, level_words
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.spaces.render import render
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.open_round import add_candidate, sweep_of


def screen(round_: Round) -> Next:
    """Pick the fastest of the screened candidates and queue its deciding evaluation.

    When none passed, the round gets its verdict from the first one that failed by itself.
    """
    if sweep := sweep_of(round_):
        return take_finalists(round_, sweep)
    done = []
    for candidate in round_.candidates.prefetch_related("evaluations"):
        screens = [e for e in candidate.evaluations.all() if e.kind == EvaluationKind.SCREEN]
        done.append(max(screens, key=lambda e: e.attempt))
    if any(evaluation.state != EvaluationState.DONE for evaluation in done):
        return NOTHING  # a round that another worker has opened since the caller's query
    best = max(done, key=_speed)
    passed = best.outcome == Outcome.PASSED
    if not passed:
        # One that was refused before it was built has no outcome, and failed by itself.
        own = [e for e in done if not e.outcome or not Outcome(e.outcome).tells_nothing]
        best = own[0] if own else done[0]
    with transaction.atomic():
        if not move(round_, RoundState.SCREENED, chosen=best.candidate):
            return NOTHING
        message = f"round {round_.number}: none of {len(done)} candidates passed"
        if passed:
            _decide(round_, best.candidate)
            measured = len(cases_of(round_.campaign, Level.QUICK))
            told = level_words(Level.QUICK, measured, len(round_.campaign.cases))
            label = best.candidate.label
            message = f"round {round_.number}: {label} is the best of {len(done)}, {told}"
        record(round_.campaign, "screened", message, round=round_)
    return AGAIN


def _speed(evaluation: Evaluation) -> float:
    """Geometric mean of the cases' median paired ratios; zero for what did not pass."""
    report = evaluation.facts
    if evaluation.outcome != Outcome.PASSED or report is None:
        return 0.0
    return geomean(map(_ratio, report.cases))


def _ratio(case: CaseReport) -> float:
    if case.candidate is None or case.incumbent is None:
        return math.ulp(0.0)
    old = decisive_samples(case, case.incumbent)
    pairs = zip(old, decisive_samples(case, case.candidate), strict=True)
    return statistics.median(max(a, 1e-9) / max(b, 1e-9) for a, b in pairs)


# So many of the best go to trial, where each is faster than the source as it is by more than noise.
FINALISTS, NOISE = 3, 1.01


def take_finalists(round_: Round, sweep: Sweep) -> Next:
    """Store the best points as candidates, and queue their trial, as an evaluation of the first.

    When nothing but the source as it is passed, that is measured: the verdict then says no change.
    """
    best = finalists_of(sweep)
    base = round_.candidates.get(ordinal=1).source
    space = campaign_space(round_.campaign, base)
    with transaction.atomic():
        if not move(round_, RoundState.SCREENED):
            return NOTHING
        made = []
        for ordinal, point in enumerate(best, 2):
            changed = {k: v for k, v in point.params.items() if v != space.defaults[k]}
            words = ", ".join(f"{name} {value}" for name, value in changed.items())
            source = render(base, space, point.params)
            label = words[:200] or "as it is"
            made.append(add_candidate(round_, ordinal, label, source, point.params))
        made = made or list(round_.candidates.all())
        claim(Round.objects.filter(pk=round_.pk), chosen=made[0])
        _decide(round_, made[0])
        tried = sweep.points.count()
        message = f"round {round_.number}: {tried} points screened, {len(best)} go to trial"
        record(round_.campaign, "screened", message, round=round_)
    return AGAIN


def hand_on(round_: Round) -> Next | None:
    """Queue another trial for the finalists that still need one; None where there is none."""
    if round_.state != RoundState.SCREENED or not sweep_of(round_):
        return None
    left = untried(round_)
    if not left:
        return None
    following = left[0]
    with transaction.atomic():
        waiting = Evaluation.objects.filter(candidate__round=round_).exclude(
            state=EvaluationState.DONE
        )
        mine = Round.objects.filter(~Q(Exists(waiting)), pk=round_.pk, state=round_.state)
        if not claim(mine, chosen=following):
            return NOTHING
        _decide(round_, following)
        message = f"round {round_.number}: {following.label} goes to trial"
        record(round_.campaign, "handed_on", message, round=round_)
    return AGAIN


def finalists_of(sweep: Sweep) -> list[SweepPoint]:
    """The points to try in full, the fastest first.

    Where none is clearly faster than the source as it is, the fastest alone is tried, unless it is
    clearly slower: a trial takes longer than the screen of a hundred points.
    """
    passed = fastest(sweep).filter(number__gt=1)
    as_it_is = sweep.points.filter(number=1).first()
    if as_it_is is None or as_it_is.time_us is None:
        return list(passed[:FINALISTS])
    clear = list(passed.filter(time_us__lt=as_it_is.time_us / NOISE)[:FINALISTS])
    return clear or list(passed.filter(time_us__lte=NOISE * as_it_is.time_us)[:1])


def fastest(sweep: Sweep) -> QuerySet[SweepPoint]:
    """The points of which all cases were timed to the end, the fastest first."""
    passed = sweep.points.filter(outcome=Outcome.PASSED, ended_early=False)
    return passed.exclude(time_us=None).order_by("time_us", "number")


def _decide(round_: Round, candidate: Candidate) -> None:
    kind = EvaluationKind.DECIDE
    attempt = next_attempt(candidate, kind)
    Evaluation.objects.create(
        candidate=candidate, against=round_.against, kind=kind, attempt=attempt
    )
