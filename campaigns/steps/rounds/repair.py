"""Ask the proposer to mend a failed candidate, and store its answer in the same round (R17)."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, Q
from django.utils import timezone

from campaigns.models import (
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Repair,
    Round,
    Submission,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.proposers.base import Failure, Repairer, Variant, proposer
from campaigns.proposers.situation import situation_of
from campaigns.records.evaluations import deciding_evaluation, judged_candidate
from campaigns.records.rounds import tried_in
from campaigns.records.submissions import waiting_in
from campaigns.records.time_spent import clock_of
from campaigns.rules.stop.ladder import MOST_REPAIRS
from campaigns.rules.stop.phases import Overrun, overrun
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.rounds.open_round import add_candidate, request_evaluation

# The end of a log says what went wrong; a proposer may have to pay for each line of it.
MOST_LOG = 8_000


def repair(round_: Round) -> Next:
    """One repair: a further candidate that is measured in full, or the word that there is none.

    A submission waits for its author to repair it.
    """
    broken = judged_candidate(round_)
    if broken.evaluations.exclude(state=EvaluationState.DONE).exists():
        return NOTHING  # another worker has mended it since the campaign was read
    failed = deciding_evaluation(broken)
    if round_.submission is None:
        return answer(round_, failed, *_answer(round_, broken, failed))
    why = _why_none_comes(round_.submission, failed)
    return answer(round_, failed, None, why) if why else NOTHING


def _why_none_comes(handed: Submission, failed: Evaluation) -> str:
    """Why nobody is waited for any more; "" while a repair may come."""
    campaign = handed.campaign
    if campaign.stop_requested:
        return "the campaign is being stopped"
    later = waiting_in(campaign).filter(kind=handed.kind, name=handed.name)
    if failed.finished_at and later.filter(at__gte=failed.finished_at).exists():
        return f"{handed.name} handed in another candidate"
    clock = clock_of(campaign, timezone.now())
    late = clock is not None and overrun(clock) is Overrun.DECLINE
    return "none was handed in within an hour" if late else ""


def answer(round_: Round, failed: Evaluation, variant: Variant | None, why: str) -> Next:
    """Store what follows upon a failure: a candidate to measure, or that there is none.

    NOTHING where another worker has stored an answer.
    """
    campaign = round_.campaign
    with transaction.atomic():
        after = CampaignState.DECIDE if variant is None else CampaignState.VALIDATE
        # The answer may have taken so long that another one has failed since.
        answered = Exists(Repair.objects.filter(failed=failed))
        if not move(campaign, after, ~Q(answered)):
            return NOTHING
        number, candidate, told = round_.repairs.count() + 1, None, "no repair"
        if variant is not None:
            # It is the round's next candidate, and the one that is judged.
            given = (variant.label, variant.source, variant.params)
            candidate = add_candidate(round_, round_.candidates.count() + 1, *given)
            request_evaluation(candidate, round_.against, EvaluationKind.DECIDE)
            claim(Round.objects.filter(pk=round_.pk, state=round_.state), chosen=candidate)
            told = f"repair {number} of {MOST_REPAIRS}: {variant.label}"
        Repair.objects.create(
            round=round_, number=number, failed=failed, candidate=candidate, why=why
        )
        message = f"round {round_.number}: {told}; {why}"
        record(campaign, "repaired" if variant else "not_repaired", message, round=round_)
    return AGAIN


def _answer(round_: Round, broken: Candidate, failed: Evaluation) -> tuple[Variant | None, str]:
    """What to try instead, and why that or why nothing."""
    campaign = round_.campaign
    if campaign.stop_requested:
        return None, "the campaign is being stopped"
    asked = proposer(campaign.proposer)
    if not isinstance(asked, Repairer):
        return None, f"the proposer {campaign.proposer} mends nothing"
    report, idea = failed.facts, tried_in(round_)
    log = f"{report.build_log}\n{report.runner_log}".strip() if report else ""
    failure = Failure(
        strategy=idea.strategy if idea else "",
        label=broken.label,
        source=broken.source,
        params=broken.params,
        outcome=failed.outcome,
        reason=failed.reason,
        log=log[-MOST_LOG:],
        tried=tuple(candidate.source for candidate in round_.candidates.all()),
    )
    variant = asked.repair(situation_of(campaign), failure)
    if variant is None:
        return None, f"the proposer {campaign.proposer} has none"
    return variant, f"{broken.label}: {failed.outcome.replace('_', ' ')}"
