"""A campaign whose search has no more to propose waits for people and agents, or ends."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import Campaign, CampaignState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.policies import stop_policy_of
from campaigns.records.stop_history import history_of
from campaigns.records.submissions import budgets_of, open_proposers, rounds_used, waiting_in
from campaigns.rules.stop.policy import NO_IDEAS, Stop, StopReason, should_stop
from campaigns.rules.stop.proposers import ProposerKind
from campaigns.steps.lifecycle.end_search import end_search
from campaigns.workers.notify import AGAIN, NOTHING, Next


def wait_or_end(campaign: Campaign) -> Next:
    """After the search was asked: wait for what is handed in, or end with the reason (law 10).

    A search that has tried what it knew ends the campaign. One that is not among the proposers, has
    used its rounds, or never had an idea here leaves it to the others, as long as one of them has
    rounds left.
    """
    left = open_proposers(campaign)
    others = [kind for kind, more in left.items() if more and kind is not ProposerKind.SEARCH]
    with transaction.atomic():
        # Held until the end, so that what is handed in just now is not left behind.
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        if waiting_in(campaign).exists():
            return AGAIN
        at_its_end = left.get(ProposerKind.SEARCH) and rounds_used(campaign)[ProposerKind.SEARCH]
        if at_its_end or not others:
            return end_search(campaign, _end(campaign, left))
        if not move(campaign, CampaignState.AWAITING):
            return NOTHING
        whose = " or ".join(kind.several for kind in others)
        why = "the search has no idea for this kernel; " if left.get(ProposerKind.SEARCH) else ""
        record(campaign, "awaiting", f"{why}waiting for {whose} to hand in a candidate")
    return NOTHING


def await_submission(campaign: Campaign) -> Next:
    """Go on once something is handed in or a person stops it; end at a limit of hours."""
    if campaign.stop_requested or waiting_in(campaign).exists():
        return AGAIN if move(campaign, CampaignState.ANALYZE) else NOTHING
    stop = should_stop(stop_policy_of(campaign), history_of(campaign))
    return end_search(campaign, stop) if stop else NOTHING


def _end(campaign: Campaign, left: dict[ProposerKind, bool]) -> Stop:
    if any(left.values()):
        return NO_IDEAS
    used = ", ".join(f"{kind.words} {most}" for kind, most in budgets_of(campaign).items())
    return Stop(StopReason.MAX_ROUNDS, f"Every proposer has used its rounds: {used}.", False)
