"""A restart in part: offered once, taken or declined by the policy or by a person (R40, R48)."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.models import (
    Campaign,
    CampaignState,
    IllegalTransition,
    Restart,
    RestartAnswer,
    RoundKind,
    Unmasking,
    Verdict,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.phase_clock import clock_of
from campaigns.records.restart_mask import masked_rounds, restart_of
from campaigns.rules.stop.phases import Overrun, overrun
from campaigns.rules.stop.policy import RestartPolicy, StopPolicy, should_stop
from campaigns.rules.stop.restart import masked
from campaigns.rules.verdict.decision import Reason
from campaigns.steps.lifecycle.end_search import stopping
from campaigns.steps.rounds.close_round import history_of
from campaigns.workers.notify import AGAIN, NOTHING, Next


def restart(campaign: Campaign) -> Next:
    """Answer by the policy; one that asks waits for a person while the phase may last (R16)."""
    policy = StopPolicy(**campaign.stop_policy).restart
    if campaign.stop_requested:
        return _answer(campaign, RestartAnswer.DECLINED, "the campaign is being stopped")
    if policy is not RestartPolicy.ASK:
        taken = policy is RestartPolicy.TAKE
        answer = RestartAnswer.TAKEN if taken else RestartAnswer.DECLINED
        return _answer(campaign, answer, "by the campaign's policy")
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.DECLINE:
        return NOTHING
    return _answer(campaign, RestartAnswer.DECLINED, "nobody answered within an hour")


def take_restart(campaign: Campaign) -> Next:
    """A person takes the offer. Raises IllegalTransition where there is none."""
    return _by_a_person(campaign, RestartAnswer.TAKEN)


def decline_restart(campaign: Campaign) -> Next:
    """A person declines it. Raises IllegalTransition where there is none."""
    return _by_a_person(campaign, RestartAnswer.DECLINED)


def unmask(campaign: Campaign, number: int) -> None:
    """Let the proposer see a masked round again. Raises IllegalTransition for any other round."""
    if campaign.is_finished or number not in masked_rounds(campaign):
        raise IllegalTransition(f"campaign: round {number} is not masked")
    with transaction.atomic():
        Unmasking.objects.create(campaign=campaign, number=number)
        record(campaign, "unmasked", f"round {number} is no longer masked")


def _by_a_person(campaign: Campaign, answer: RestartAnswer) -> Next:
    if campaign.state != CampaignState.RESTART:
        raise IllegalTransition(f"campaign: is {campaign.doing}; no restart is offered now")
    return _answer(campaign, answer, "by a person")


def _answer(campaign: Campaign, answer: RestartAnswer, why: str) -> Next:
    """Store the answer and go on; one that is declined may leave nothing but the end (R49)."""
    if restart_of(campaign) is not None:
        raise IllegalTransition("campaign: its one restart is answered already")
    after, taken = campaign.rounds.count(), answer is RestartAnswer.TAKEN
    seed = campaign.seed + after
    hidden = list(_drawn(campaign, seed)) if taken else []
    values: dict[str, Any] = {"state": CampaignState.PROFILE}
    stop = should_stop(
        StopPolicy(**campaign.stop_policy), history_of(campaign, answered=True, taken=taken)
    )
    if stop is not None:
        values = stopping(stop)
    with transaction.atomic():
        if not move(campaign, values.pop("state"), **values):
            return NOTHING
        Restart.objects.create(
            campaign=campaign, after=after, answer=answer, why=why, seed=seed, masked=hidden
        )
        numbers = ", ".join(map(str, hidden)) or "none"
        told = f"masked from the proposer: rounds {numbers}" if taken else "nothing is masked"
        record(campaign, "restart", f"restart in part {answer.value} {why}; {told}", rounds=hidden)
        if stop is not None:
            record(campaign, "ended", stop.sentence, reason=stop.reason)
    return AGAIN


def _drawn(campaign: Campaign, seed: int) -> tuple[int, ...]:
    """About half of the attempts; a round that only broke the host was none (law 8)."""
    rows = Verdict.objects.filter(round__campaign=campaign).exclude(reason=Reason.BROKEN_HOST)
    attempts = rows.exclude(round__kind=RoundKind.BASELINE).values_list("round__number", flat=True)
    incumbent = campaign.incumbent
    return masked(attempts, {1, incumbent.round.number if incumbent else 1}, seed)
