"""Ask the campaign's proposer for the next round. Nothing is written here."""

from __future__ import annotations

from dataclasses import replace

from campaigns.models import Campaign
from campaigns.proposers.base import Draft, proposer
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.proposers.situation import situation_of


def propose(campaign: Campaign) -> Draft | None:
    """Return the next hypothesis with its candidates, or None when no idea is left.

    The same campaign at the same round gets the same answer, so that a repeat after a crash
    changes nothing. Raises ValueError where its scope is no config class of the campaign.
    """
    situation = replace(
        situation_of(campaign), learned=advice_for(campaign), spent=spent_for(campaign)
    )
    draft = proposer(campaign.proposer).propose(situation)
    if draft is not None and draft.hypothesis.scope not in ("", *situation.classes):
        accepted = ", ".join(situation.classes) or "none, without class columns"
        raise ValueError(f"scope: {draft.hypothesis.scope!r}; accepted: {accepted}")
    return draft
