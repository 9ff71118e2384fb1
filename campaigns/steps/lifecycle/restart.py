"""The one restart that a campaign is offered, and what it hides from the proposer (R40, R48)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction

from campaigns.models import (
    Campaign,
    CampaignState,
    IllegalTransition,
    Restart,
    RestartAnswer,
    Unmasking,
    Verdict,
)
from campaigns.models.event import record
from campaigns.models.kinds import ATTEMPTS
from campaigns.models.transitions import move, stopping
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.stop_history import history_of, masked_rounds, restart_of
from campaigns.rules.stop.ladder import FRACTION, masked
from campaigns.rules.stop.policy import should_stop
from campaigns.rules.verdict.decision import UNJUDGED, Reason
from campaigns.rules.verdict.expectation import is_decided
from campaigns.steps.notify import AGAIN, NOTHING, Next
from knowledge.experience.attempts import merging
from knowledge.models import EntryStanding, Experience


def answer_restart(campaign: Campaign, answer: RestartAnswer, why: str = "by a person") -> Next:
    """Store the answer and continue; after a declined restart the campaign may have to end (R49).

    Raises IllegalTransition where no restart is offered or it is answered already.
    """
    if campaign.state != CampaignState.RESTART:
        raise IllegalTransition(f"campaign: is {campaign.doing}; no restart is offered now")
    if restart_of(campaign) is not None:
        raise IllegalTransition("campaign: its one restart is answered already")
    after, taken = campaign.rounds.count(), answer is RestartAnswer.TAKEN
    seed = campaign.seed + after
    hidden: list[int] = []
    if taken:
        # About half of the attempts; a round with outcome broken_host is not one (law 8).
        rows = Verdict.objects.filter(round__campaign=campaign, round__kind__in=ATTEMPTS)
        judged = rows.exclude(reason__in=UNJUDGED).values_list("round__number", flat=True)
        incumbent = campaign.incumbent
        hidden += masked(judged, {1, incumbent.round.number if incumbent else 1}, seed)
    values: dict[str, Any] = {"state": CampaignState.PROFILE}
    stop = should_stop(stop_policy_of(campaign), history_of(campaign, answered=True, taken=taken))
    if stop is not None:
        values = stopping(stop)
    with transaction.atomic():
        if not move(campaign, values.pop("state"), **values):
            return NOTHING
        hide_rounds(campaign, hidden, f"partial restart of campaign {campaign.pk}")
        numbers = ", ".join(map(str, hidden)) or "none"
        hides = f"hidden from the proposer: rounds {numbers}" if taken else "no round is hidden"
        found = {"after": after, "answer": answer.value, "why": why, "seed": seed, "masked": hidden}
        words = f"partial restart {answer.value} {why}; {hides}"
        record(campaign, Restart.KIND, words, fraction=FRACTION, **found)
        if stop is not None:
            record(campaign, "ended", stop.sentence, reason=stop.reason)
    return AGAIN


def unmask(campaign: Campaign, number: int) -> None:
    """Let the proposer see a masked round again. Raises IllegalTransition for any other round."""
    if campaign.is_finished or number not in masked_rounds(campaign):
        raise IllegalTransition(f"campaign: round {number} is not hidden")
    with transaction.atomic():
        show_rounds(campaign, {number}, "shown to the proposer again")
        record(campaign, Unmasking.KIND, f"round {number} is no longer hidden", number=number)


def hide_rounds(campaign: Campaign, numbers: Collection[int], why: str) -> None:
    """Mask the entries of these rounds that count. Inside the caller's transaction."""
    found = _entries(campaign, numbers, EntryStanding.COUNTS)
    if found:
        merging.mask(found, None, why)


def show_rounds(campaign: Campaign, numbers: Collection[int], why: str) -> None:
    """Let the entries of these rounds count again, but for those whose verdict needs review."""
    rows = Verdict.objects.filter(round__campaign=campaign, round__number__in=numbers)
    reasons = rows.values_list("round__number", "reason")
    decided = {number for number, reason in reasons if is_decided(Reason(reason))}
    found = _entries(campaign, decided, EntryStanding.MASKED)
    if found:
        merging.unmask(found, None, why)


def _entries(
    campaign: Campaign, numbers: Collection[int], standing: EntryStanding
) -> list[Experience]:
    rows = Experience.objects.filter(campaign=campaign.pk, round__in=numbers, standing=standing)
    return list(rows)
