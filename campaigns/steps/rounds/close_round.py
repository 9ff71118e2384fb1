"""Close a judged round: keep or roll back, then continue or stop."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.models import AbortReason, Campaign, CampaignState, Round, RoundState
from campaigns.models.event import record
from campaigns.models.transitions import move, stopping
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.stop_history import history_of
from campaigns.rules.stop.policy import should_stop
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.steps.measuring.baselines import request_baselines
from campaigns.steps.notify import NOTHING, Next
from campaigns.steps.rounds.closed import AFTER_CLOSING, WITH_CLOSING
from campaigns.steps.rounds.ladder import Climb, climb


def close_round(round_: Round) -> Next:
    """Close the round in one transaction: incumbent, state of the campaign, stop reason."""
    campaign, verdict = round_.campaign, round_.verdict
    accepted = verdict.word == VerdictWord.ACCEPTED
    if accepted:
        campaign.incumbent = round_.chosen
    ending, climbed = _ending(campaign, round_)
    beside: tuple[int, ...] = ()
    with transaction.atomic():
        # The campaign is claimed first: a pause that came in between leaves the round to later.
        if not move(campaign, ending.pop("state"), incumbent=campaign.incumbent, **ending):
            return NOTHING
        if not move(round_, RoundState.CLOSED, closed_at=timezone.now()):
            transaction.set_rollback(True)
            return NOTHING
        kept = "kept; it is the incumbent now" if accepted else "rolled back to the incumbent"
        record(campaign, "round_closed", f"round {round_.number}: {kept}", round=round_)
        if climbed is None:
            record(campaign, "ended", ending["stop_sentence"], reason=ending["stop_reason"])
        elif climbed.rung is not None:
            record(campaign, "ladder", climbed.words, rung=climbed.rung)
        for follow in WITH_CLOSING:
            follow(round_)
        if not round_.traits.is_attempt:
            # The first alone at once: the others take longer, and a free worker finds them.
            beside = request_baselines(campaign)[:1]
    for follow in AFTER_CLOSING:
        follow(round_)
    return Next(again=not campaign.is_finished, measure=beside)


def _ending(campaign: Campaign, round_: Round) -> tuple[dict[str, Any], Climb | None]:
    """The campaign's next state, and where the search ends also why (law 10).

    When it continues, a round without a gain is a step up the ladder (R48); None when it ends.
    """
    if not round_.traits.is_attempt and campaign.incumbent is None:
        return {
            "state": CampaignState.ABORTED,
            "stop_reason": AbortReason.BASELINE_FAILED,
            "stop_sentence": f"Baseline: {round_.verdict.sentence}",
            "finished_at": timezone.now(),
        }, None
    stop = should_stop(stop_policy_of(campaign), history_of(campaign))
    if stop:
        return stopping(stop), None
    climbed = climb(campaign)
    return {"state": climbed.state}, climbed
