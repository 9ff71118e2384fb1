"""Before acceptance a candidate is measured again: in new processes, on new inputs."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    Round,
    RoundState,
    StandingWord,
)
from campaigns.models.transitions import move
from campaigns.records.evaluations import Session
from campaigns.rules.verdict.decision import Decision
from campaigns.rules.verdict.one_session import against_words
from campaigns.steps.measuring.stand import stand
from campaigns.workers.notify import AGAIN, NOTHING, Next


def remeasure(round_: Round, claim: Evaluation, decision: Decision) -> Next:
    """Note the claim, and queue its second session. The judge waits for that one."""
    candidate = claim.candidate
    with transaction.atomic():
        deciding = Q(campaign__in=Campaign.objects.filter(state=CampaignState.DECIDE))
        if not move(round_, RoundState.CLAIMED, deciding, chosen=candidate):
            return NOTHING
        Evaluation.objects.create(
            candidate=candidate, against=claim.against, kind=EvaluationKind.REMEASURE
        )
        shown = against_words(decision.gain) if decision.gain else decision.sentence
        stand(round_, StandingWord.CLAIMED, Session(claim, decision), f"First session: {shown}.")
    return AGAIN
