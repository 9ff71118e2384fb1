"""Take or decline the one restart that a campaign is offered (R40, R48)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from campaigns.models import (
    Campaign,
    CampaignState,
    IllegalTransition,
    Restart,
    RestartAnswer,
    Verdict,
)
from campaigns.models.event import record
from campaigns.models.kinds import ATTEMPTS
from campaigns.models.transitions import move, stopping
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.stop_history import history_of, restart_of
from campaigns.rules.stop.ladder import masked
from campaigns.rules.stop.policy import should_stop
from campaigns.rules.verdict.decision import UNJUDGED
from campaigns.steps.learning.hide import hide_rounds
from campaigns.workers.notify import AGAIN, NOTHING, Next


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
    hidden = list(_drawn(campaign, seed)) if taken else []
    values: dict[str, Any] = {"state": CampaignState.PROFILE}
    stop = should_stop(stop_policy_of(campaign), history_of(campaign, answered=True, taken=taken))
    if stop is not None:
        values = stopping(stop)
    with transaction.atomic():
        if not move(campaign, values.pop("state"), **values):
            return NOTHING
        Restart.objects.create(
            campaign=campaign, after=after, answer=answer, why=why, seed=seed, masked=hidden
        )
        hide_rounds(campaign, hidden, f"partial restart of campaign {campaign.pk}")
        numbers = ", ".join(map(str, hidden)) or "none"
        hides = f"hidden from the proposer: rounds {numbers}" if taken else "no round is hidden"
        record(campaign, "restart", f"partial restart {answer.value} {why}; {hides}", rounds=hidden)
        if stop is not None:
            record(campaign, "ended", stop.sentence, reason=stop.reason)
    return AGAIN


def _drawn(campaign: Campaign, seed: int) -> tuple[int, ...]:
    """About half of the attempts; a round with outcome broken_host is not one (law 8)."""
    rows = Verdict.objects.filter(round__campaign=campaign).exclude(reason__in=UNJUDGED)
    attempts = rows.filter(round__kind__in=ATTEMPTS).values_list("round__number", flat=True)
    incumbent = campaign.incumbent
    return masked(attempts, {1, incumbent.round.number if incumbent else 1}, seed)
