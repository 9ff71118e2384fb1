"""What would be accepted is measured again first: in new processes, on inputs nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from campaigns.bell import AGAIN, NOTHING, Next
from campaigns.models import (
    CampaignState,
    Candidate,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Round,
    RoundState,
    Standing,
    StandingWord,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.rules.decision import Decision, Verdict
from campaigns.rules.verdict import against_words


@dataclass(frozen=True, slots=True)
class Session:
    """One session about a candidate. alone: what it shows by itself."""

    evaluation: Evaluation
    alone: Decision


def remeasure(round_: Round, claim: Evaluation, decision: Decision) -> Next:
    """Note the claim, and queue its second session. The judge waits for that one."""
    candidate = claim.candidate
    with transaction.atomic():
        deciding = Q(campaign__state=CampaignState.DECIDE)
        if not move(round_, RoundState.CLAIMED, deciding, chosen=candidate):
            return NOTHING
        Evaluation.objects.create(
            candidate=candidate, against=claim.against, kind=EvaluationKind.REMEASURE
        )
        shown = against_words(decision.gain) if decision.gain else decision.sentence
        stand(round_, StandingWord.CLAIMED, Session(claim, decision), f"First session: {shown}.")
    return AGAIN


def second_session(candidate: Candidate) -> Evaluation | None:
    """The last attempt at the candidate's second session; None before it is done."""
    again = candidate.evaluations.filter(kind=EvaluationKind.REMEASURE, state=EvaluationState.DONE)
    found: Evaluation | None = again.order_by("attempt").last()
    return found


def settle(round_: Round, again: Session, decision: Decision) -> None:
    """Store what the second session made of a claim. decision: the verdict on both.

    A session on another device of the model than the claim's is a reproduction besides. Inside the
    caller's transaction.
    """
    accepted = decision.verdict is Verdict.ACCEPTED
    word = StandingWord.VERIFIED if accepted else StandingWord.NOT_VERIFIED
    gain = again.alone.gain
    shown = f"A second session showed {against_words(gain)}." if gain else ""
    stand(round_, word, again, shown if accepted and shown else decision.sentence)
    claim = round_.standings.get(word=StandingWord.CLAIMED).evaluation
    if accepted and is_elsewhere(again.evaluation.card, claim):
        sentence = f"The second session ran on another device: {again.alone.sentence}"
        stand(round_, StandingWord.REPRODUCED, again, sentence)


def is_elsewhere(card: str, claim: Evaluation) -> bool:
    """Whether this is another device than the claim's; False where either is unknown."""
    return bool(card and claim.card) and card != claim.card


def stand(round_: Round, word: StandingWord, session: Session, sentence: str) -> None:
    """Store one step of a round's standing with its event, once per word.

    Inside the caller's transaction.
    """
    gain = session.alone.gain
    Standing.objects.create(
        round=round_,
        word=word.value,
        evaluation=session.evaluation,
        sentence=sentence,
        gain=gain.gain if gain else None,
        gain_low=gain.low if gain else None,
        gain_high=gain.high if gain else None,
        pairs=gain.pairs if gain else 0,
        interval_kind=gain.kind if gain else "",
    )
    message = f"round {round_.number}: {word.label}: {sentence}"
    more = {"word": word.value, "evaluation": session.evaluation.pk}
    record(round_.campaign, "standing", message, round=round_, **more)
