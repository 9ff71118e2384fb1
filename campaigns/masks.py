"""Which rounds a restart hides from the proposer, as it stands now (R40)."""

from __future__ import annotations

from campaigns.models import Campaign, Restart, Unmasking


def restart_of(campaign: Campaign) -> Restart | None:
    """The campaign's restart as it was answered; None before. One query."""
    return Restart.objects.filter(campaign=campaign).first()


def masked_rounds(campaign: Campaign) -> frozenset[int]:
    """The numbers of the rounds that are hidden; at most two queries."""
    return masked_by(restart_of(campaign))


def masked_by(restart: Restart | None) -> frozenset[int]:
    """What this restart hides and nobody has shown again; a query where it hides anything."""
    if restart is None or not restart.masked:
        return frozenset()
    seen = Unmasking.objects.filter(campaign=restart.campaign_id)
    return frozenset(restart.masked) - frozenset(seen.values_list("number", flat=True))
