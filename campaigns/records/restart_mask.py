"""A campaign's restart in part, and which rounds it hides from the proposer now (R40)."""

from __future__ import annotations

from campaigns.models import Campaign, Restart, RestartAnswer, Unmasking


def restart_of(campaign: Campaign) -> Restart | None:
    """The campaign's restart as it was answered; None before. One query."""
    return Restart.objects.filter(campaign=campaign).first()


def restarted_after(restart: Restart | None) -> int:
    """How many rounds had been closed when the restart was taken; 0 where none was."""
    return restart.after if restart and restart.answer == RestartAnswer.TAKEN else 0


def masked_rounds(campaign: Campaign) -> frozenset[int]:
    """The numbers of the rounds that are hidden; at most two queries."""
    return masked_by(restart_of(campaign))


def masked_by(restart: Restart | None) -> frozenset[int]:
    """What this restart hides and nobody has shown again; a query where it hides anything."""
    if restart is None or not restart.masked:
        return frozenset()
    seen = Unmasking.objects.filter(campaign=restart.campaign_id)
    return frozenset(restart.masked) - frozenset(seen.values_list("number", flat=True))
