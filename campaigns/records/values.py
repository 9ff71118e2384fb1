"""One value each for campaign, round, candidate, evaluation and verdict, as plain data has them.

Commands with `--json` and trails write these. Where they have called a part by another name since
before, they add that name.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from campaigns.models import Campaign, Candidate, Evaluation, Repair, Round, Standing, Verdict
from campaigns.records.campaigns import CampaignResult, intake_of, stored_result
from campaigns.records.findings import FoundLine, found_lines
from campaigns.records.rounds import proposed_by
from campaigns.records.submissions import budgets_of
from campaigns.rules.noise.gain import Gain


class VerdictValue(msgspec.Struct, frozen=True):
    """What was concluded of a round. gates, cases, classes, noise: as `Verdict` stores them.

    sessions: keys of the evaluations that its times and gain are of; two if they are pooled.
    """

    word: str
    reason: str
    sentence: str
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    pairs: int
    interval_kind: str
    sessions: list[int]
    cases: list[dict[str, Any]]
    classes: list[dict[str, Any]] | None
    gates: list[dict[str, Any]]
    noise: dict[str, Any] | None


class EvaluationValue(msgspec.Struct, frozen=True):
    """What was measured. void: why it does not count; "" where it does."""

    kind: str
    attempt: int
    outcome: str
    reason: str
    environment: dict[str, Any]
    cases: list[dict[str, Any]]
    surroundings: list[dict[str, Any]]
    void: str


class CandidateValue(msgspec.Struct, frozen=True, rename={"file_name": "file"}):
    """A source of a round. findings: None where it was not examined."""

    ordinal: int
    label: str
    file_name: str
    flags: list[str]
    params: dict[str, Any]
    digest: str
    findings: list[FoundLine] | None
    chosen: bool = False


class RoundCandidates(msgspec.Struct, frozen=True):
    """The candidates of one round. round: its number."""

    round: int
    candidates: list[CandidateValue]


class RoundValue(msgspec.Struct, frozen=True):
    """One hypothesis tried. proposed_by: kind and name. against: the number of another round."""

    campaign: int
    number: int
    kind: str
    state: str
    hypothesis: dict[str, Any]
    proposed_by: dict[str, str | None]
    against: int | None
    opened_at: str
    closed_at: str | None


class CampaignValue(msgspec.Struct, frozen=True):
    """One problem on one platform with one backend. incumbent: the number of its round.

    proposers: kind → the most rounds it may have; None without a limit.
    """

    campaign: int
    title: str
    problem: str
    operator: str
    platform: str
    platform_name: str
    architecture: str
    backend: str
    cases: list[str]
    proposer: str
    proposers: dict[str, int | None]
    intake: dict[str, str]
    state: str
    stop_reason: str
    stop_sentence: str
    goal: dict[str, Any] | None
    result: CampaignResult
    incumbent: int | None
    created_at: str
    finished_at: str | None


class RepairValue(msgspec.Struct, frozen=True):
    """A failure that was repaired. of, candidate: ordinals; None where nothing came of it."""

    number: int
    of: int
    outcome: str
    reason: str
    candidate: int | None
    why: str


class AnswerValue(msgspec.Struct, frozen=True):
    """What a person said of a gain that another device did not show."""

    answer: str
    why: str
    by: str
    at: str


class StandingValue(msgspec.Struct, frozen=True):
    """One step of the standing, with what its own session showed."""

    word: str
    sentence: str
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    pairs: int
    evaluation: int
    at: str
    answer: AnswerValue | None


def picked(row: object, names: str) -> dict[str, Any]:
    """These attributes of a row by their names; times as text."""
    found = {name: getattr(row, name) for name in names.split()}
    return {n: v.isoformat() if isinstance(v, datetime) else v for n, v in found.items()}


def gain_value(gain: Gain | None) -> dict[str, Any]:
    """A gain as data, in fractions; each part None where nothing was compared."""
    return {name: getattr(gain, name, None) for name in ("gain", "low", "high", "pairs", "kind")}


def gain_facts(gain: Gain | None) -> dict[str, Any]:
    """The same as rows store it, without its kind; no pairs where nothing was compared."""
    found = gain_value(gain)
    ends = {"gain_low": found["low"], "gain_high": found["high"]}
    return {"gain": found["gain"], **ends, "pairs": found["pairs"] or 0}


def verdict_value(verdict: Verdict) -> VerdictValue:
    """The verdict of a round."""
    return msgspec.convert(verdict, VerdictValue, from_attributes=True)


def evaluation_value(evaluation: Evaluation) -> EvaluationValue:
    """Its row should have been read with `void`."""
    report = evaluation.report
    return EvaluationValue(
        **picked(evaluation, "kind attempt outcome reason"),
        environment=report.get("environment", {}),
        cases=report.get("cases", []),
        surroundings=report.get("surroundings", []),
        void=evaluation.void,
    )


def candidate_value(candidate: Candidate, round_: Round) -> CandidateValue:
    """One candidate of that round."""
    value = msgspec.convert(candidate, CandidateValue, from_attributes=True)
    findings = found_lines(candidate, round_.campaign)
    return replace(value, findings=findings, chosen=candidate.pk == round_.chosen_id)


def candidates_by_round(campaign: Campaign) -> list[RoundCandidates]:
    """Every candidate of every round; two queries."""
    return [
        RoundCandidates(one.number, [candidate_value(c, one) for c in one.candidates.all()])
        for one in campaign.rounds.prefetch_related("candidates")
    ]


def round_value(round_: Round) -> RoundValue:
    """One round; what it rests on should have been read with it."""
    return RoundValue(
        **picked(round_, "number kind state hypothesis opened_at closed_at"),
        campaign=round_.campaign_id,
        proposed_by=proposed_by(round_).facts,
        against=round_.against.round.number if round_.against else None,
    )


def campaign_value(campaign: Campaign) -> CampaignValue:
    """One campaign; its problem, platform and incumbent should have been read with it."""
    problem, platform = campaign.problem, campaign.platform
    names = "title backend cases proposer state stop_reason stop_sentence goal"
    return CampaignValue(
        **picked(campaign, f"{names} created_at finished_at"),
        campaign=campaign.pk,
        problem=problem.slug,
        operator=problem.op,
        platform=platform.slug,
        platform_name=platform.name,
        architecture=platform.arch,
        proposers={kind.value: most for kind, most in budgets_of(campaign).items()},
        intake=intake_of(campaign).stored,
        result=stored_result(campaign),
        incumbent=campaign.incumbent.round.number if campaign.incumbent else None,
    )


def repair_value(repair: Repair) -> RepairValue:
    """One repair; its candidate and what failed should have been read with it."""
    failed, fixed = repair.failed, repair.candidate
    return RepairValue(
        **picked(failed, "outcome reason"),
        **picked(repair, "number why"),
        of=failed.candidate.ordinal,
        candidate=fixed.ordinal if fixed else None,
    )


def standing_value(step: Standing) -> StandingValue:
    """One step of a round's standing, with a person's answer."""
    said = step.answer
    answer = AnswerValue(said.words, said.why, str(said.by), said.at.isoformat()) if said else None
    return StandingValue(
        **picked(step, "sentence gain gain_low gain_high pairs at"),
        word=step.words,
        evaluation=step.evaluation_id,
        answer=answer,
    )
