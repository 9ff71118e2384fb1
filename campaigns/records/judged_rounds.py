"""What a round is judged by, loaded once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Report, protocol_from
from campaigns.models import Campaign, Candidate, Evaluation, Round, RoundKind, RoundState
from campaigns.records.candidate_findings import examined
from campaigns.records.dispatch_classes import classes_by_case, taken_by
from campaigns.records.floors import floors_of, lesser_floors_of
from campaigns.records.hypotheses import declared_of
from campaigns.records.measured_cases import cases_of, level_of
from campaigns.records.noise_floor import NoiseFloor, floor_for
from campaigns.records.sessions import deciding_evaluation, judged_candidate, second_session
from campaigns.rules.noise.gain import LEAST_FLOOR
from campaigns.rules.target.intake import intake_from
from campaigns.rules.verdict.gates import Standard


@dataclass(frozen=True, slots=True)
class JudgedRound:
    """A round's candidate, its sessions, and what they are held against.

    evaluations: the deciding one, and of a claim the second session. reports: theirs, in the same
    order; empty of a candidate that was never run, because its source is refused.
    """

    candidate: Candidate
    evaluations: tuple[Evaluation, ...]
    reports: tuple[Report, ...]
    standard: Standard
    floor: NoiseFloor


def load_judged_round(round_: Round) -> JudgedRound:
    """Read what decides about a round whose evaluations are all done."""
    campaign = round_.campaign
    candidate = judged_candidate(round_)
    evaluations = [deciding_evaluation(candidate)]
    if round_.state == RoundState.CLAIMED and (again := second_session(candidate)):
        evaluations.append(again)
    reports = [evaluation.facts for evaluation in evaluations]
    floor = max((floor_for(campaign, one) for one in evaluations), key=lambda f: f.value)
    level = level_of(evaluations[0])
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
    return JudgedRound(
        candidate=candidate,
        evaluations=tuple(evaluations),
        reports=tuple(report for report in reports if report is not None),
        standard=standard,
        floor=floor,
    )


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
