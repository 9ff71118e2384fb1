"""What of an accepted gain may be reproduced, and where (R49)."""

from __future__ import annotations

from typing import Any

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    Standing,
    StandingWord,
)
from campaigns.models.transitions import WORKING
from campaigns.records.round.sessions import is_elsewhere

# An aborted campaign has no result to confirm, and a held one holds its device free.
REPRODUCED_IN = WORKING | {CampaignState.DONE}


def may_reproduce(evaluation: Evaluation, card: str) -> bool:
    """Whether a worker with this device may take this reproduction now."""
    campaign = evaluation.campaign
    held = campaign.state not in REPRODUCED_IN or campaign.pause_requested
    claim = _claim_of(evaluation)
    return not held and claim is not None and is_elsewhere(card, claim)


def _claim_of(evaluation: Evaluation) -> Evaluation | None:
    claims = Standing.objects.filter(word=StandingWord.CLAIMED, round=evaluation.candidate.round_id)
    claim = claims.select_related("evaluation").first()
    return claim.evaluation if claim else None


def may_rely(campaign: Campaign, person: Any) -> bool:
    """Whether this person may rely on a gain in doubt; nobody may in a campaign of their own."""
    return campaign.created_by_id is None or campaign.created_by_id != person.pk
