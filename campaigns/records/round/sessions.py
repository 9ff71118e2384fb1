"""Which evaluations decide about a candidate: its first session, and the second one of a claim."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.evaluator.contract import Report
from campaigns.models import (
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
)
from campaigns.rules.verdict.decision import Decision
from campaigns.rules.verdict.sessions import merged


def second_session(candidate: Candidate) -> Evaluation | None:
    """The last attempt at the candidate's second session; None before it is done."""
    again = candidate.evaluations.filter(kind=EvaluationKind.REMEASURE, state=EvaluationState.DONE)
    found: Evaluation | None = again.order_by("attempt").last()
    return found


def is_elsewhere(card: str, claim: Evaluation) -> bool:
    """Whether this is another device than the claim's; False where either is unknown."""
    return bool(card and claim.card) and card != claim.card


# Deciding evaluations first: a screening is the verdict's ground only where nothing passed it.
_WEIGHT = {
    EvaluationKind.SWEEP: 0,
    EvaluationKind.SCREEN: 0,
    EvaluationKind.BASELINE: 1,
    EvaluationKind.DECIDE: 1,
}


def judged_candidate(round_: Round) -> Candidate:
    """The candidate that the round's verdict is about: the chosen one, or the only one."""
    chosen: Candidate = round_.chosen or round_.candidates.get(ordinal=1)
    return chosen


def deciding_evaluation(candidate: Candidate) -> Evaluation:
    """The evaluation that a verdict on this candidate rests on."""
    done = candidate.evaluations.filter(state=EvaluationState.DONE, kind__in=_WEIGHT)
    last: Evaluation = max(done, key=lambda e: (_WEIGHT[EvaluationKind(e.kind)], e.attempt))
    return last


def deciding_report(candidate: Candidate) -> Report | None:
    """What is known of an accepted candidate's times: from every session that decided about it."""
    report, again = deciding_evaluation(candidate).facts, second_session(candidate)
    found = again.facts if again else None
    return merged(report, found) if report and found else report


@dataclass(frozen=True, slots=True)
class Session:
    """One session about a candidate. alone: what it shows by itself."""

    evaluation: Evaluation
    alone: Decision
