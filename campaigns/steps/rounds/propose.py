"""Ask the campaign's built-in search for the next round. Nothing is written here."""

from __future__ import annotations

from dataclasses import replace

from campaigns.models import Campaign
from campaigns.proposers.base import Draft, proposer
from campaigns.proposers.learned import advice_for, spent_for
from campaigns.proposers.situation import situation_of
from campaigns.records.submissions import open_proposers
from campaigns.rules.stop.proposers import ProposerKind


def propose(campaign: Campaign) -> Draft | None:
    """Return the next hypothesis with its candidates, or None when no idea is left.

    None as well where the search is no proposer of this campaign, or has had its rounds.
    The same campaign at the same round gets the same answer, so that a repeat after a crash
    changes nothing. Raises ValueError where its scope is no config class of the campaign.
    """
    if not open_proposers(campaign).get(ProposerKind.SEARCH):
        return None
    situation = replace(
        situation_of(campaign), learned=advice_for(campaign), spent=spent_for(campaign)
    )
    draft = proposer(campaign.proposer).propose(situation)
    if draft is not None and draft.hypothesis.scope not in ("", *situation.classes):
        accepted = ", ".join(situation.classes) or "none, without class columns"
        raise ValueError(f"scope: {draft.hypothesis.scope!r}; accepted: {accepted}")
    return draft
