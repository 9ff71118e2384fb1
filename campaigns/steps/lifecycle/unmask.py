"""Show the proposer a masked round again (R40)."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import (
    Campaign,
    IllegalTransition,
    Unmasking,
)
from campaigns.models.event import record
from campaigns.records.stop_history import masked_rounds
from campaigns.steps.learning.hide import show_rounds


def unmask(campaign: Campaign, number: int) -> None:
    """Let the proposer see a masked round again. Raises IllegalTransition for any other round."""
    if campaign.is_finished or number not in masked_rounds(campaign):
        raise IllegalTransition(f"campaign: round {number} is not hidden")
    with transaction.atomic():
        Unmasking.objects.create(campaign=campaign, number=number)
        show_rounds(campaign, {number}, "shown to the proposer again")
        record(campaign, "unmasked", f"round {number} is no longer hidden")
