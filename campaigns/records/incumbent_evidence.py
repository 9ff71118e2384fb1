"""The stored facts about the present incumbent (R27)."""

from __future__ import annotations

from campaigns.models import (
    Campaign,
    Evidence,
)


def evidence_of(campaign: Campaign) -> Evidence | None:
    """The newest facts about the present incumbent; None before they were gathered."""
    found: Evidence | None = campaign.evidence.filter(incumbent=campaign.incumbent_id).last()
    return found
