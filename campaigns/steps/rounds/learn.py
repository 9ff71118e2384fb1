"""Make a closed round part of what the team knows, with the lessons that follow (R37, R41)."""

from __future__ import annotations

import logging

from django.db import DatabaseError, transaction
from msgspec import MsgspecError

from campaigns.models import Round, RoundState
from campaigns.steps.learning.attempt import attempt_of
from campaigns.steps.learning.note_trick import note_trick
from campaigns.steps.learning.offer_tip import offer_tip
from knowledge.experience.record import record_attempts
from knowledge.models import Experience

log = logging.getLogger(__name__)

# What a row that cannot be read or written raises; a mistake of ours is not hidden.
UNLEARNT = (DatabaseError, MsgspecError, LookupError, ValueError)


def learn(round_: Round) -> Experience | None:
    """Record a closed round once; its entry, or None where it teaches nothing.

    Never for a baseline nor for a failure of the infrastructure (law 8). All or nothing.
    """
    if round_.state != RoundState.CLOSED:
        raise ValueError(f"{round_}: is {round_.state}; accepted: a closed round")
    attempt = attempt_of(round_)
    if attempt is None:
        return None
    with transaction.atomic():
        # Who closed it and the heartbeats of all workers may be here at once.
        list(Round.objects.select_for_update().filter(pk=round_.pk))
        made = record_attempts([attempt])
        if made:
            note_trick(round_, made[0])
            offer_tip(round_, made[0])
    return Experience.objects.get(campaign=round_.campaign_id, round=round_.number)


def try_to_learn(round_: Round) -> bool:
    """The same for the flow, which never stops for it: a failure is logged, and tried again."""
    try:
        learn(round_)
    except UNLEARNT:
        log.exception("%s is not learned yet; the next check tries it again", round_)
        return False
    return True
