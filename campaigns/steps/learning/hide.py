"""Entries follow their rounds: what a restart hides from the proposer, no machine sees (R40)."""

from __future__ import annotations

from collections.abc import Collection

from campaigns.models import Campaign, Verdict
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.taught import is_decided
from knowledge.experience.attempts.merging import mask, unmask
from knowledge.models import EntryStanding, Experience


def hide_rounds(campaign: Campaign, numbers: Collection[int], why: str) -> None:
    """Mask the entries of these rounds that count. Inside the caller's transaction."""
    found = _entries(campaign, numbers, EntryStanding.COUNTS)
    if found:
        mask(found, None, why)


def show_rounds(campaign: Campaign, numbers: Collection[int], why: str) -> None:
    """Let the entries of these rounds count again, but for those whose verdict needs review."""
    rows = Verdict.objects.filter(round__campaign=campaign, round__number__in=numbers)
    reasons = rows.values_list("round__number", "reason")
    decided = {number for number, reason in reasons if is_decided(Reason(reason))}
    found = _entries(campaign, decided, EntryStanding.MASKED)
    if found:
        unmask(found, None, why)


def _entries(
    campaign: Campaign, numbers: Collection[int], standing: EntryStanding
) -> list[Experience]:
    rows = Experience.objects.filter(campaign=campaign.pk, round__in=numbers, standing=standing)
    return list(rows)
