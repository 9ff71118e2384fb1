"""The ends of a campaign: the incumbent against v0, side by side, or an abort; with the reason."""

from __future__ import annotations

import msgspec
from django.db import transaction
from django.utils import timezone
from msgspec.structs import replace

from campaigns.evaluator.contract import Outcome
from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
)
from campaigns.models.event import record
from campaigns.models.transitions import move, stopping
from campaigns.records.campaigns import CampaignResult
from campaigns.records.cases import case_rows
from campaigns.records.device_waits import awaited_by, is_held, is_served
from campaigns.records.judged_rounds import standard_of
from campaigns.rules.stop.policy import Stop
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps.measuring.baselines import request_baselines
from campaigns.steps.measuring.results import ended_with, not_measured
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.close_round import commit_accepted

BASELINE = "v0"
NOT_COMPARED = CampaignResult(0.0, pairs=0, interval="nothing to compare: v0 is the incumbent")


def finish(campaign: Campaign) -> Next:
    """Compare the incumbent with v0 directly, then move to done.

    A product of the rounds' gains would add up their errors; this one interval does not.
    """
    v0 = Candidate.objects.get(round__campaign=campaign, round__number=1)
    incumbent = campaign.incumbent
    if incumbent is None or incumbent.pk == v0.pk:
        return _close(campaign, NOT_COMPARED)
    evaluation = incumbent.evaluations.filter(kind=EvaluationKind.REPORT).order_by("attempt").last()
    if evaluation is None:
        evaluation, _ = Evaluation.objects.get_or_create(
            candidate=incumbent, kind=EvaluationKind.REPORT, attempt=1, defaults={"against": v0}
        )
    if evaluation.state == EvaluationState.QUEUED:
        unserved = campaign.stop_requested and not is_served(campaign)
        return AGAIN if unserved else Next(measure=(evaluation.pk,))
    if evaluation.state == EvaluationState.RUNNING:
        return NOTHING
    report = evaluation.facts
    if report is None or report.outcome is not Outcome.PASSED:
        return _close(campaign, CampaignResult(None, why=evaluation.reason or "not measured"))
    decision = decide_session(report, standard_of(campaign, has_incumbent=True))
    gain, key = decision.gain, evaluation.pk
    if gain is None:
        return _close(campaign, CampaignResult(None, why=decision.sentence))
    figures = (gain.gain, gain.low, gain.high, gain.pairs, gain.kind)
    cases = case_rows(report.cases, decision.cases)
    return _close(campaign, CampaignResult(*figures, evaluation=key, cases=cases))


def _close(campaign: Campaign, result: CampaignResult) -> Next:
    # Before the state changes: after a crash here this step is taken again.
    commit_accepted(campaign)
    stored = msgspec.to_builtins(replace(result, baseline=BASELINE))
    # What the campaign achieved; why it ended was said when its search ended.
    if result.gain is None:
        words = f"Finished; the incumbent could not be compared with v0: {result.why}"
    elif (gain := result.as_gain) is None:
        words = "Finished: v0 remains the best; no change was shown to be faster."
    else:
        words = f"Finished: {gain.words} against v0 (n={gain.pairs} pairs)."
    with transaction.atomic():
        if not move(campaign, CampaignState.DONE, result=stored, finished_at=timezone.now()):
            return NOTHING
        record(campaign, "finished", words, reason=campaign.stop_reason)
        return Next(measure=request_baselines(campaign))


def end_search(campaign: Campaign, stop: Stop) -> Next:
    """Move to the report, with the reason for it (law 10)."""
    values = stopping(stop)
    with transaction.atomic():
        if not move(campaign, values.pop("state"), **values):
            return NOTHING
        record(campaign, "ended", stop.sentence, reason=stop.reason)
    return AGAIN


def abort(campaign: Campaign, reason: AbortReason, sentence: str) -> Next:
    """Move to aborted and say why; nothing follows. What was accepted is committed first."""
    commit_accepted(campaign)
    ending = {"stop_reason": reason, "stop_sentence": sentence, "finished_at": timezone.now()}
    with transaction.atomic():
        if move(campaign, CampaignState.ABORTED, **ending):
            record(campaign, "aborted", sentence, reason=reason)
    return NOTHING


NOT_TAKEN = "a person stopped the campaign before a worker took this measurement"
BEFORE_BASELINE = "Stopped by a person before the baseline was measured."


def call_off(campaign: Campaign) -> None:
    """End what waits in the queue as not measured, which is no failure of a candidate (law 8).

    A campaign that waits for its baseline has nothing to report, so it is aborted.
    """
    queued = awaited_by(campaign).filter(state=EvaluationState.QUEUED)
    waiting = list(queued.select_related("candidate__round"))
    unmeasured = bool(waiting) or not campaign.rounds.exists()
    for evaluation in waiting:
        report, round_ = not_measured(evaluation, NOT_TAKEN), evaluation.candidate.round
        with transaction.atomic():
            if move(evaluation, EvaluationState.DONE, **ended_with(report)):
                label = f"round {round_.number}, {evaluation.candidate.label}"
                message = f"{label}: not measured: {NOT_TAKEN}"
                record(campaign, "called_off", message, round=round_, evaluation=evaluation.pk)
    if campaign.incumbent_id is None and unmeasured and not is_held(campaign):
        abort(campaign, AbortReason.USER, BEFORE_BASELINE)


TRIES = 3
STEP_FAILED = "step_failed"


def give_up(campaign: Campaign, error: Exception) -> Next:
    """Record `error`; abort when the last `TRIES` events are all such failures."""
    said = (str(error).splitlines() or ["no message"])[0]
    what = f"{type(error).__name__}: {said}"
    record(campaign, STEP_FAILED, f"The step after {campaign.doing!r} failed: {what}")
    last = list(campaign.events.order_by("-pk").values_list("kind", flat=True)[:TRIES])
    if last != [STEP_FAILED] * TRIES or campaign.is_finished:
        return NOTHING
    sentence = f"kopt itself failed {TRIES} times at the step after {campaign.doing!r}: {what}"
    return abort(campaign, AbortReason.INTERNAL, sentence)
