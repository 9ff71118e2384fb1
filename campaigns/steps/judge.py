"""From the stored samples of a round's deciding evaluation to its Verdict row."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from campaigns.bell import AGAIN, NOTHING, Next
from campaigns.case_table import case_rows
from campaigns.evaluator.contract import Report
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
    Worker,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.rules.decision import Decision, Reason
from campaigns.rules.gates import Standard
from campaigns.rules.noise import LEAST_FLOOR, noise_floor
from campaigns.rules.roofline import Floor, Work, measured_slack, physical_floor
from campaigns.rules.verdict import compare, decide
from knowledge.specs.cited import Cited

# Deciding evaluations first: a screening is the verdict's ground only where nothing passed it.
_WEIGHT = {EvaluationKind.SCREEN: 0, EvaluationKind.BASELINE: 1, EvaluationKind.DECIDE: 1}
# 95 % of a normal distribution lie within this many deviations of its mean.
_DEVIATIONS_95 = 1.96


def judge(round_: Round) -> Next:
    """Write the one verdict of a round; on the baseline also the campaign's noise floor.

    A round with an unfinished evaluation is not judged: that evaluation is asked for instead.
    """
    waiting = _unfinished(round_)
    if waiting:
        queued = (key for key, state in waiting.items() if state == EvaluationState.QUEUED)
        return Next(measure=tuple(sorted(queued)))
    campaign = round_.campaign
    candidate = round_.chosen or round_.candidates.get(ordinal=1)
    evaluation = deciding_evaluation(candidate)
    report = evaluation.facts
    if report is None:
        raise ValueError(f"{evaluation}: has no report to judge")
    standard = standard_of(campaign, has_incumbent=round_.kind != RoundKind.BASELINE)
    decision = decide(report, standard)
    noise = _noise(report, standard) if decision.reason is Reason.BASELINE else {}
    with transaction.atomic():
        deciding = Q(campaign__state=CampaignState.DECIDE)
        if not move(round_, RoundState.JUDGED, deciding, chosen=candidate):
            return NOTHING
        _store(round_, evaluation, report, decision)
        if noise:
            campaign.noise = noise
            claim(Campaign.objects.filter(pk=campaign.pk), noise=noise)
            _stamp_passport(evaluation.worker, campaign.backend, noise)
        record(
            campaign,
            "verdict",
            f"round {round_.number}: {decision.verdict.words}: {decision.sentence}",
            round=round_,
            verdict=decision.verdict,
            reason=decision.reason,
        )
    return AGAIN


def _unfinished(round_: Round) -> dict[int, str]:
    rows = Evaluation.objects.filter(candidate__round=round_).exclude(state=EvaluationState.DONE)
    return dict(rows.values_list("pk", "state"))


def deciding_evaluation(candidate: Candidate) -> Evaluation:
    """The evaluation that a verdict on this candidate rests on."""
    done = candidate.evaluations.filter(state=EvaluationState.DONE, kind__in=_WEIGHT)
    last: Evaluation = max(done, key=lambda e: (_WEIGHT[EvaluationKind(e.kind)], e.attempt))
    return last


def standard_of(campaign: Campaign, *, has_incumbent: bool) -> Standard:
    """What the campaign's reports are judged against: its noise, floors and protected cases."""
    protected = campaign.problem.cases.filter(name__in=campaign.cases, protected=True)
    return Standard(
        has_incumbent=has_incumbent,
        noise=campaign.noise.get("floor", LEAST_FLOOR),
        seed=campaign.seed,
        floors=_floors(campaign.target),
        protected=frozenset(protected.values_list("name", flat=True)),
    )


def _floors(target: dict[str, Any]) -> dict[str, Floor]:
    disputed = target.get("disputed", {})
    bandwidths, computes = (
        [Cited(**cited) for cited in (*target.get(kind, ()), *disputed.get(kind, ()))]
        for kind in ("bandwidth", "compute")
    )
    busy = target.get("busy_share")
    slack = measured_slack(busy["value"] if busy else 0.0)
    works = {
        name: Work(flops=case["flops"], bytes=case["bytes"])
        for name, case in target.get("cases", {}).items()
    }
    found = {
        name: physical_floor(work, bandwidths, computes, slack) for name, work in works.items()
    }
    return {name: floor for name, floor in found.items() if floor is not None}


def _noise(report: Report, standard: Standard) -> dict[str, Any]:
    """The A/A result: how far an estimate of "no change at all" strays from zero."""
    gain = compare(report, standard).gain
    deviation = (gain.high - gain.low) / (2 * _DEVIATIONS_95)
    sigma = (gain.gain**2 + deviation**2) ** 0.5
    return {"sigma": sigma, "floor": noise_floor(sigma)} | asdict(gain)


def _store(round_: Round, evaluation: Evaluation, report: Report, decision: Decision) -> None:
    gain = decision.gain
    Verdict.objects.create(
        round=round_,
        evaluation=evaluation,
        word=decision.verdict.value,
        reason=decision.reason.value,
        sentence=decision.sentence,
        gain=gain.gain if gain else None,
        gain_low=gain.low if gain else None,
        gain_high=gain.high if gain else None,
        pairs=gain.pairs if gain else 0,
        interval_kind=gain.kind if gain else "",
        gates=[asdict(gate) for gate in decision.gates],
        cases=case_rows(report.cases, decision.cases),
    )


def _stamp_passport(worker: Worker | None, backend: str, noise: dict[str, Any]) -> None:
    """Keep what the baseline showed of its worker's noise, for `doctor` and for people."""
    if worker is None:
        return
    passport = {
        "sigma": noise["sigma"],
        "pairs": noise["pairs"],
        "at": timezone.now().isoformat(timespec="seconds"),
    }
    Worker.objects.filter(pk=worker.pk).update(noise={**worker.noise, backend: passport})
