"""How far a round's gain is confirmed: claimed, measured again, answered for by a person."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from campaigns.models import (
    Answer,
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    Round,
    RoundState,
    Standing,
    StandingAnswer,
    StandingWord,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.evaluations import Session, is_elsewhere, may_rely
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import Decision, VerdictWord
from campaigns.rules.verdict.one_session import against_words
from campaigns.steps.notify import AGAIN, NOTHING, Next
from knowledge.curation.errors import Forbidden


def gain_columns(gain: Gain | None) -> dict[str, Any]:
    """The columns that a gain is stored in, by name; those of no gain have their defaults."""
    if gain is None:
        return {}
    ends = {"gain": gain.gain, "gain_low": gain.low, "gain_high": gain.high}
    return {**ends, "pairs": gain.pairs, "interval_kind": gain.kind}


def stand(round_: Round, word: StandingWord, session: Session, sentence: str) -> None:
    """Store one step of a round's standing with its event, once per word.

    Inside the caller's transaction.
    """
    Standing.objects.create(
        round=round_,
        word=word.value,
        evaluation=session.evaluation,
        sentence=sentence,
        **gain_columns(session.alone.gain),
    )
    message = f"round {round_.number}: {word.label}: {sentence}"
    more = {"word": word.value, "evaluation": session.evaluation.pk}
    record(round_.campaign, "standing", message, round=round_, **more)


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


def settle(round_: Round, again: Session, decision: Decision) -> None:
    """Store what the second session made of a claim. decision: the verdict on both.

    A session on another device of the model than the claim's is a reproduction besides. Inside the
    caller's transaction.
    """
    accepted = decision.verdict is VerdictWord.ACCEPTED
    word = StandingWord.VERIFIED if accepted else StandingWord.NOT_VERIFIED
    gain = again.alone.gain
    shown = f"A second session showed {against_words(gain)}." if gain else ""
    stand(round_, word, again, shown if accepted and shown else decision.sentence)
    claim = round_.standings.get(word=StandingWord.CLAIMED).evaluation
    if accepted and is_elsewhere(again.evaluation.card, claim):
        sentence = f"The second session ran on another device: {again.alone.sentence}"
        stand(round_, StandingWord.REPRODUCED, again, sentence)


LONGEST_WHY = 500
MAY_ANSWER = "campaigns.change_campaign"


class AnswerRefused(ValueError):
    """An answer that cannot be stored; the message says what is accepted."""


def answer_standing(round_: Round, answer: str, why: str, by: Any) -> StandingAnswer:
    """Store it with the standing. Verdict, incumbent and numbers do not change.

    answer: one of `Answer`. Raises AnswerRefused, and Forbidden for a person who may not run
    campaigns, and for the starter of this one who answers that its gain can be relied on.
    """
    if by is None or not by.has_perm(MAY_ANSWER):
        raise Forbidden("answering for a gain needs the role engineer or lead")
    if answer == Answer.RELIED_ON and not may_rely(round_.campaign, by):
        raise Forbidden(
            f"{round_.campaign} is yours: another person has to say that its gain is relied on all "
            "the same"
        )
    if answer not in Answer.values:
        raise AnswerRefused(f"answer: '{answer}'; accepted: {', '.join(Answer.values)}")
    if not 0 < len(why.strip()) <= LONGEST_WHY or "\0" in why:
        raise AnswerRefused(f"why: is needed, of at most {LONGEST_WHY} characters")
    standing = round_.standings.filter(word=StandingWord.NOT_REPRODUCED).first()
    if standing is None:
        raise AnswerRefused(f"{round_}: accepted: one that is {StandingWord.NOT_REPRODUCED.label}")
    said = {"standing": standing.pk, "answer": answer, "why": why.strip()}
    label = Answer(answer).label
    words = f"round {round_.number}: {label}, says {by.get_username()}: {why.strip()}"
    try:
        with transaction.atomic():
            made = record(round_.campaign, StandingAnswer.KIND, words, round=round_, by=by, **said)
    except IntegrityError:
        raise AnswerRefused(f"{round_}: is answered already; answers are never rewritten") from None
    return StandingAnswer.objects.get(pk=made.pk)
