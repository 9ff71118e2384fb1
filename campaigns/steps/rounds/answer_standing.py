"""A person says what follows from a gain that another device did not show."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from campaigns.models import Answer, Round, Standing, StandingAnswer, StandingWord
from campaigns.models.event import record
from campaigns.records.evaluations import may_rely
from knowledge.curation.errors import Forbidden

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
    return _store(standing, Answer(answer), why.strip(), by)


def _store(standing: Standing, answer: Answer, why: str, by: Any) -> StandingAnswer:
    round_ = standing.round
    words = f"round {round_.number}: {answer.label}, says {by.get_username()}: {why}"
    try:
        with transaction.atomic():
            made = StandingAnswer.objects.create(
                standing=standing, answer=answer.value, why=why, by=by
            )
            record(round_.campaign, "standing_answered", words, round=round_)
    except IntegrityError:
        raise AnswerRefused(f"{round_}: is answered already; answers are never rewritten") from None
    return made
