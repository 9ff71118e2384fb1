"""A restart in part: offered once, taken or declined by the policy or by a person (R40, R48)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import (
    Campaign,
    RestartAnswer,
)
from campaigns.records.phase_clock import clock_of
from campaigns.records.policies import stop_policy_of
from campaigns.rules.stop.phases import Overrun, overrun
from campaigns.rules.stop.policy import RestartPolicy
from campaigns.steps.lifecycle.answer_restart import answer_restart
from campaigns.workers.notify import NOTHING, Next


def restart(campaign: Campaign) -> Next:
    """Answer by the policy; one that asks waits for a person while the phase may last (R16)."""
    policy = stop_policy_of(campaign).restart
    if campaign.stop_requested:
        return answer_restart(campaign, RestartAnswer.DECLINED, "the campaign is being stopped")
    if policy is not RestartPolicy.ASK:
        taken = policy is RestartPolicy.TAKE
        answer = RestartAnswer.TAKEN if taken else RestartAnswer.DECLINED
        return answer_restart(campaign, answer, "by the campaign's policy")
    clock = clock_of(campaign, timezone.now())
    if clock is None or overrun(clock) is not Overrun.DECLINE:
        return NOTHING
    return answer_restart(campaign, RestartAnswer.DECLINED, "nobody answered within an hour")
