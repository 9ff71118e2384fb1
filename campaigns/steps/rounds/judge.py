"""From the stored samples of a round's deciding evaluation to its Verdict row (R44, R47).

Only an accepted candidate becomes the incumbent: after every other verdict the last one stays, and
so does the earlier one of two that noise does not separate.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import PurePath

import msgspec
from django.db import transaction
from django.db.models import Q

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationState,
    Round,
    RoundState,
    Verdict,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.records.campaigns import noise_between
from campaigns.records.cases import case_rows, class_rows
from campaigns.records.evaluations import Session, tried_candidates
from campaigns.records.judged_rounds import JudgedRound, load_judged_round
from campaigns.rules.stop.ladder import may_repair
from campaigns.rules.verdict.case_limits import Level
from campaigns.rules.verdict.decide import Judgement, best_of, decide
from campaigns.rules.verdict.decision import Decision, Reason, VerdictWord
from campaigns.rules.verdict.one_session import compare
from campaigns.rules.verdict.report_words import flag_words
from campaigns.steps.measuring.standings import gain_columns, remeasure, settle
from campaigns.steps.measuring.waits import ASKED, ask_to_pause
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.screen import hand_on


def judge(round_: Round) -> Next:
    """Write the one verdict of a round; on the baseline also the campaign's noise floor.

    A round with an unfinished evaluation is not judged: that evaluation is requested instead. Of
    several candidates that were tried together the best one is judged. What would be accepted is
    measured again first, and then judged by both sessions. What failed in a way that another change
    may mend is repaired first, while that is allowed (R17).
    """
    evaluations = Evaluation.objects.filter(candidate__round=round_)
    states = evaluations.exclude(state=EvaluationState.DONE).values_list("pk", "state")
    if states:
        queued = (key for key, state in states if state == EvaluationState.QUEUED)
        return Next(measure=tuple(sorted(queued)))
    tried = [load_judged_round(round_, one) for one in tried_candidates(round_)]
    judgements = [decide(one.reports, one.standard) for one in tried]
    best = best_of(judgements)
    judged, judgement = tried[best], judgements[best]
    if _waits_for_host(round_, judged, judgement.decision):
        return AGAIN
    if judgement.is_claim:
        return remeasure(round_, judged.evaluations[0], judgement.decision)
    more = judgement.decision.verdict is not VerdictWord.ACCEPTED
    if more and not round_.campaign.stop_requested and (following := hand_on(round_)):
        return following
    if _is_mendable(round_, judgement.decision):
        # What is mended is the candidate that is judged.
        claim(Round.objects.filter(pk=round_.pk, state=round_.state), chosen=judged.candidate)
        return AGAIN if move(round_.campaign, CampaignState.REPAIR) else NOTHING
    return _close(round_, judged, judgement)


def _close(round_: Round, judged: JudgedRound, judgement: Judgement) -> Next:
    campaign, decision = round_.campaign, _with_flags(judged, judgement.decision)
    judgement = replace(judgement, decision=decision)
    with transaction.atomic():
        deciding = Q(campaign__in=Campaign.objects.filter(state=CampaignState.DECIDE))
        if not move(round_, RoundState.JUDGED, deciding, chosen=judged.candidate):
            return NOTHING
        _store(round_, judged, judgement)
        if judgement.second is not None:
            settle(round_, Session(judged.evaluations[-1], judgement.second), decision)
        if judgement.report and decision.reason is Reason.BASELINE:
            gain = compare(judgement.report, judged.standard).gain
            campaign.noise = msgspec.to_builtins(noise_between(gain))
            claim(Campaign.objects.filter(pk=campaign.pk), noise=campaign.noise)
        message = f"round {round_.number}: {decision.verdict.told(decision.sentence)}"
        more = {"verdict": decision.verdict, "reason": decision.reason}
        record(campaign, "verdict", message, round=round_, **more)
    return AGAIN


def _with_flags(judged: JudgedRound, decision: Decision) -> Decision:
    """The decision; its sentence names the flags if both kernels are compiled differently."""
    against = judged.evaluations[0].against
    if against is None or decision.gain is None:
        return decision
    own, other = judged.candidate.source, against.source
    same = PurePath(own.name).suffix == PurePath(other.name).suffix
    apart = flag_words(own.flags, other.flags) if same else ""
    return replace(decision, sentence=f"{decision.sentence} {apart}".strip())


def _waits_for_host(round_: Round, judged: JudgedRound, decision: Decision) -> bool:
    """Hold a campaign whose host failed, to measure the same candidate again (law 8).

    Once a round, so that a candidate that breaks every host holds nothing up for good; the baseline
    always, as nothing goes on without it, unless the problem itself is at fault.
    """
    campaign, evaluation = round_.campaign, judged.evaluations[-1]
    is_quick = evaluation.traits.level is Level.QUICK
    if not decision.void or campaign.stop_requested or is_quick:
        return False
    if round_.traits.is_attempt:
        is_over = campaign.events.filter(kind=ASKED, round=round_).exists()
    else:
        is_over = any(report.problem_fault for report in judged.reports)
    if is_over:
        return False
    again = f"resuming it measures round {round_.number} again"
    why = f"{decision.sentence} The campaign waits; {again}."
    with transaction.atomic():
        if ask_to_pause(campaign, why, round=round_):
            evaluation.queue_again()
    return True


def _is_mendable(round_: Round, decision: Decision) -> bool:
    """Baselines, dispatch splits and claimed rounds are never repaired."""
    if not round_.traits.is_mendable or round_.state == RoundState.CLAIMED:
        return False
    answers = round_.repairs.values_list("candidate", flat=True)
    return may_repair(decision.reason, [key is not None for key in answers])


def _store(round_: Round, judged: JudgedRound, judgement: Judgement) -> None:
    decision, report = judgement.decision, judgement.report
    Verdict.objects.create(
        round=round_,
        evaluation=judged.evaluations[judgement.deciding],
        word=decision.verdict.value,
        reason=decision.reason.value,
        sentence=decision.sentence,
        **gain_columns(decision.gain),
        gates=[asdict(gate) for gate in decision.gates],
        cases=case_rows(report.cases if report else (), decision.cases),
        classes=class_rows(decision.classes, judged.standard.classes),
        noise=asdict(judged.floor),
    )
