"""Store one step of how far a round's gain is confirmed."""

from __future__ import annotations

from campaigns.models import (
    Round,
    Standing,
    StandingWord,
)
from campaigns.models.event import record
from campaigns.records.evaluations import Session


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
