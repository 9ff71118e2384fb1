"""Store what the second session made of a claimed gain."""

from __future__ import annotations

from campaigns.models import (
    Round,
    StandingWord,
)
from campaigns.records.evaluations import Session, is_elsewhere
from campaigns.rules.verdict.decision import Decision, VerdictWord
from campaigns.rules.verdict.one_session import against_words
from campaigns.steps.measuring.stand import stand


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
