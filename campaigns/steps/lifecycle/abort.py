"""End a campaign that cannot continue, with the reason (law 10)."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from campaigns.models import AbortReason, Campaign, CampaignState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.steps.rounds.commit_accepted import commit_accepted
from campaigns.workers.notify import NOTHING, Next


def abort(campaign: Campaign, reason: AbortReason, sentence: str) -> Next:
    """Move to aborted and say why; nothing follows. What was accepted is committed first."""
    commit_accepted(campaign)
    ending = {"stop_reason": reason, "stop_sentence": sentence, "finished_at": timezone.now()}
    with transaction.atomic():
        if move(campaign, CampaignState.ABORTED, **ending):
            record(campaign, "aborted", sentence, reason=reason)
    return NOTHING
