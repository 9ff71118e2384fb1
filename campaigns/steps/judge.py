"""From the stored samples of a round's deciding evaluation to its Verdict row (R44, R47).

Only an accepted candidate becomes the incumbent: after every other verdict the last one stays, and
so does the earlier one of two that noise does not tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Q

from campaigns.bell import AGAIN, NOTHING, Next
from campaigns.case_table import case_rows, class_rows
from campaigns.declared import declared_of
from campaigns.dispatch import classes_by_case, taken_by
from campaigns.evaluator.contract import Outcome, Report, protocol_from
from campaigns.examined import examined
from campaigns.levels import cases_of, level_of
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundKind,
    RoundState,
    Verdict,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.rules.decision import Decision, Reason
from campaigns.rules.floors import floors_of, lesser_floors_of
from campaigns.rules.gates import Standard
from campaigns.rules.intake import intake_from
from campaigns.rules.noise import LEAST_FLOOR, noise_floor, stray
from campaigns.rules.repairs import may_repair
from campaigns.rules.sessions import claims, decide_again, merged
from campaigns.rules.verdict import compare, decide
from campaigns.steps.noise_floor import NoiseFloor, floor_for
from campaigns.steps.remeasure import Session, remeasure, second_session, settle

# Deciding evaluations first: a screening is the verdict's ground only where nothing passed it.
_WEIGHT = {EvaluationKind.SCREEN: 0, EvaluationKind.BASELINE: 1, EvaluationKind.DECIDE: 1}


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a verdict rests on. again: the second session of a claim.

    report: None of a candidate that was never run, because its source is refused.
    """

    evaluation: Evaluation
    report: Report | None
    decision: Decision
    again: Session | None = None


def judge(round_: Round) -> Next:
    """Write the one verdict of a round; on the baseline also the campaign's noise floor.

    A round with an unfinished evaluation is not judged: that evaluation is asked for instead. What
    would be accepted is measured again first, and then judged by both sessions. What failed in a
    way that another change may mend is repaired first, while that is allowed (R17).
    """
    waiting = _unfinished(round_)
    if waiting:
        queued = (key for key, state in waiting.items() if state == EvaluationState.QUEUED)
        return Next(measure=tuple(sorted(queued)))
    campaign = round_.campaign
    candidate = judged_candidate(round_)
    sessions = [deciding_evaluation(candidate)]
    if round_.state == RoundState.CLAIMED and (again := second_session(candidate)):
        sessions.append(again)
    floor = max((floor_for(campaign, session) for session in sessions), key=lambda f: f.value)
    level = level_of(sessions[0])
    standard = replace(
        standard_of(campaign, has_incumbent=round_.kind != RoundKind.BASELINE),
        examined=examined(candidate, campaign),
        declared=declared_of(round_),
        taken=taken_by(round_),
        noise=floor.value,
        noise_source=floor.words,
        level=level,
        cases=frozenset(cases_of(campaign, level)),
    )
    ground = _ground(sessions, standard)
    decision = ground.decision
    if claims(decision) and ground.again is None:
        return remeasure(round_, ground.evaluation, decision)
    if _is_mendable(round_, decision):
        return AGAIN if move(campaign, CampaignState.REPAIR) else NOTHING
    report = ground.report
    noise = _noise(report, standard) if report and decision.reason is Reason.BASELINE else {}
    with transaction.atomic():
        deciding = Q(campaign__state=CampaignState.DECIDE)
        if not move(round_, RoundState.JUDGED, deciding, chosen=candidate):
            return NOTHING
        _store(round_, ground, decision, standard, floor)
        if ground.again is not None:
            settle(round_, ground.again, decision)
        if noise:
            campaign.noise = noise
            claim(Campaign.objects.filter(pk=campaign.pk), noise=noise)
        record(
            campaign,
            "verdict",
            f"round {round_.number}: {decision.verdict.told(decision.sentence)}",
            round=round_,
            verdict=decision.verdict,
            reason=decision.reason,
        )
    return AGAIN


def judged_candidate(round_: Round) -> Candidate:
    """The candidate that the round's verdict is about: the chosen one, or the only one."""
    chosen: Candidate = round_.chosen or round_.candidates.get(ordinal=1)
    return chosen


def _is_mendable(round_: Round, decision: Decision) -> bool:
    """Never the baseline, nor a dispatch split, which is made of two kernels that were right, nor
    what one session showed to be right and another one did not."""
    if round_.kind in (RoundKind.BASELINE, RoundKind.SPLIT) or round_.state == RoundState.CLAIMED:
        return False
    answers = round_.repairs.values_list("candidate", flat=True)
    return may_repair(decision.reason, [key is not None for key in answers])


def _ground(sessions: Sequence[Evaluation], standard: Standard) -> _Ground:
    """What the deciding session shows, or of a claimed round both sessions."""
    evaluation, *others = sessions
    report = evaluation.facts
    if report is None:
        return _Ground(evaluation, None, decide(None, standard))
    first = _Ground(evaluation, report, decide(report, standard))
    if not others:
        return first
    again = others[0]
    second = again.facts
    if second is None:
        raise ValueError(f"{again}: has no report to judge")
    session = Session(again, decide(second, replace(standard, sessions=2)))
    if not claims(first.decision):
        return replace(first, again=session)
    return _Ground(
        evaluation=evaluation if again.outcome == Outcome.PASSED else again,
        report=merged(report, second),
        decision=decide_again(report, second, standard),
        again=session,
    )


def _unfinished(round_: Round) -> dict[int, str]:
    rows = Evaluation.objects.filter(candidate__round=round_).exclude(state=EvaluationState.DONE)
    return dict(rows.values_list("pk", "state"))


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


def standard_of(campaign: Campaign, *, has_incumbent: bool) -> Standard:
    """What the campaign's reports are judged against: its noise, floors and protected cases."""
    cases = list(campaign.case_rows)
    return Standard(
        has_incumbent=has_incumbent,
        noise=campaign.noise.get("floor", LEAST_FLOOR),
        seed=campaign.seed,
        floors=floors_of(campaign.target),
        lesser_floors=lesser_floors_of(campaign.target),
        protected=frozenset(case.name for case in cases if case.protected),
        guard=intake_from(campaign.intake).guard_policy,
        cases=frozenset(campaign.cases),
        whole=len(campaign.cases),
        halves=campaign.problem.halves,
        classes=classes_by_case(cases),
        require_sanitizers=protocol_from(campaign.protocol.rules).require_sanitizers,
    )


def _noise(report: Report, standard: Standard) -> dict[str, Any]:
    """The A/A result: how far an estimate of "no change at all" strays from zero."""
    gain = compare(report, standard).gain
    sigma = stray(gain)
    return {"sigma": sigma, "floor": noise_floor(sigma)} | asdict(gain)


def _store(
    round_: Round, ground: _Ground, decision: Decision, standard: Standard, floor: NoiseFloor
) -> None:
    gain, report = decision.gain, ground.report
    Verdict.objects.create(
        round=round_,
        evaluation=ground.evaluation,
        word=decision.verdict.value,
        reason=decision.reason.value,
        sentence=decision.sentence,
        gain=gain.gain if gain else None,
        gain_low=gain.low if gain else None,
        gain_high=gain.high if gain else None,
        pairs=gain.pairs if gain else 0,
        interval_kind=gain.kind if gain else "",
        gates=[asdict(gate) for gate in decision.gates],
        cases=case_rows(report.cases if report else (), decision.cases),
        classes=class_rows(decision.classes, standard.classes),
        noise=asdict(floor),
    )
