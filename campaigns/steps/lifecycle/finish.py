"""The end of a campaign: the incumbent against v0, measured side by side, and the reason."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.evaluator.contract import Outcome
from campaigns.models import (
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.device_waits import is_served
from campaigns.records.judged_rounds import standard_of
from campaigns.rules.verdict.decision import Decision
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.wording import gain_words
from campaigns.steps.baselines.request_baselines import request_baselines
from campaigns.steps.rounds.commit_accepted import commit_accepted
from campaigns.workers.notify import AGAIN, NOTHING, Next

BASELINE = "v0"
NOT_COMPARED: dict[str, Any] = {
    "gain": 0.0,
    "gain_low": None,
    "gain_high": None,
    "pairs": 0,
    "interval": "nothing to compare: v0 is the incumbent",
}


def finish(campaign: Campaign) -> Next:
    """Compare the incumbent with v0 directly, then move to done.

    A product of the rounds' gains would add up their errors; this one interval does not.
    """
    v0 = Candidate.objects.get(round__campaign=campaign, round__number=1)
    incumbent = campaign.incumbent
    if incumbent is None or incumbent.pk == v0.pk:
        return _end(campaign, NOT_COMPARED)
    evaluation = _latest(incumbent, v0)
    if evaluation.state == EvaluationState.QUEUED:
        unserved = campaign.stop_requested and not is_served(campaign)
        return AGAIN if unserved else Next(measure=(evaluation.pk,))
    if evaluation.state == EvaluationState.RUNNING:
        return NOTHING
    return _end(campaign, _result(campaign, evaluation))


def _latest(incumbent: Candidate, v0: Candidate) -> Evaluation:
    reports = incumbent.evaluations.filter(kind=EvaluationKind.REPORT).order_by("attempt")
    latest: Evaluation | None = reports.last()
    if latest is None:
        latest, _ = Evaluation.objects.get_or_create(
            candidate=incumbent, kind=EvaluationKind.REPORT, attempt=1, defaults={"against": v0}
        )
    return latest


def _result(campaign: Campaign, evaluation: Evaluation) -> dict[str, Any]:
    report = evaluation.facts
    if report is None or report.outcome is not Outcome.PASSED:
        return {"gain": None, "why": evaluation.reason or "not measured"}
    decision: Decision = decide_session(report, standard_of(campaign, has_incumbent=True))
    if decision.gain is None:
        return {"gain": None, "why": decision.sentence}
    gain = asdict(decision.gain)
    return {
        "gain": gain["gain"],
        "gain_low": gain["low"],
        "gain_high": gain["high"],
        "pairs": gain["pairs"],
        "interval": gain["kind"],
        "evaluation": evaluation.pk,
    }


def _end(campaign: Campaign, result: dict[str, Any]) -> Next:
    # Before the state changes: after a crash here this step is taken again.
    commit_accepted(campaign)
    values = {"result": {"baseline": BASELINE, **result}, "finished_at": timezone.now()}
    with transaction.atomic():
        if not move(campaign, CampaignState.DONE, **values):
            return NOTHING
        record(campaign, "finished", _closing_words(result), reason=campaign.stop_reason)
        return Next(measure=request_baselines(campaign))


def _closing_words(result: dict[str, Any]) -> str:
    """What the campaign achieved; why it ended was said when its search ended."""
    if result["gain"] is None:
        return f"Finished; the incumbent could not be compared with v0: {result['why']}"
    if not result["pairs"]:
        return "Finished: v0 remains the best; no change was shown to be faster."
    told = gain_words(result["gain"], result["gain_low"], result["gain_high"])
    return f"Finished: {told} against v0 (n={result['pairs']} pairs)."
