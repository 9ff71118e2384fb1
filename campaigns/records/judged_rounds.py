"""What a round is judged by, loaded once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Report
from campaigns.evaluator.contract.files import protocol_from
from campaigns.models import Campaign, Candidate, Evaluation, Round, RoundState
from campaigns.records.campaigns import baseline_floor, intake_of, target_of
from campaigns.records.cases import cases_of, classes_by_case, taken_by
from campaigns.records.evaluations import deciding_evaluation, second_session
from campaigns.records.findings import examined
from campaigns.records.noise import NoiseFloor, floor_for, never_waits
from campaigns.records.rounds import declared_of
from campaigns.rules.noise.drift import Disturbance, undecided_by
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session


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


def load_judged_round(round_: Round, candidate: Candidate) -> JudgedRound:
    """Read what decides about a candidate of a round whose evaluations are all done.

    Raises ValueError for a second session without a report.
    """
    campaign = round_.campaign
    evaluations = [deciding_evaluation(candidate)]
    if round_.state == RoundState.CLAIMED and (again := second_session(candidate)):
        evaluations.append(again)
    floor = max((floor_for(campaign, one) for one in evaluations), key=lambda f: f.value)
    level = evaluations[0].traits.level
    standard = replace(
        standard_of_round(round_, floor),
        examined=examined(candidate, campaign),
        level=level,
        cases=frozenset(cases_of(campaign, level)),
    )
    reports: list[Report] = []
    if evaluations[0].facts is not None:
        for evaluation in evaluations:
            if (report := evaluation.facts) is None:
                raise ValueError(f"{evaluation}: has no report to judge")
            reports.append(report)
    return JudgedRound(candidate, tuple(evaluations), tuple(reports), standard, floor)


def undecided_under(evaluation: Evaluation, report: Report) -> tuple[Disturbance, ...]:
    """Why an undecided comparison is void; empty if its host is not to blame.

    report: of the evaluation; it is not stored yet.
    """
    round_ = evaluation.candidate.round
    if never_waits() or not (evaluation.traits.ends_early and round_.traits.is_attempt):
        return ()
    standard = standard_of_round(round_, floor_for(round_.campaign, evaluation, report))
    is_open = decide_session(report, standard).reason is Reason.UNDECIDED
    return undecided_by(report, standard.noise) if is_open else ()


def standard_of_round(round_: Round, floor: NoiseFloor) -> Standard:
    """The campaign's standard for what this round tries, at its measurement's noise floor."""
    return replace(
        standard_of(round_.campaign, has_incumbent=round_.traits.is_attempt),
        declared=declared_of(round_),
        taken=taken_by(round_),
        noise=floor.value,
        noise_source=floor.words,
    )


def standard_of(campaign: Campaign, *, has_incumbent: bool) -> Standard:
    """What the campaign's reports are judged against: its noise, floors and protected cases."""
    cases, target = list(campaign.case_rows), target_of(campaign)
    return Standard(
        has_incumbent=has_incumbent,
        is_v0=not has_incumbent,
        noise=baseline_floor(campaign),
        seed=campaign.seed,
        floors=target.floors,
        lesser_floors=target.lesser_floors,
        protected=frozenset(case.name for case in cases if case.protected),
        guard=intake_of(campaign).guard_policy,
        cases=frozenset(campaign.cases),
        whole=len(campaign.cases),
        halves=campaign.problem.halves,
        classes=classes_by_case(cases),
        require_sanitizers=protocol_from(campaign.protocol.rules).require_sanitizers,
    )
