"""Round 1: the problem's own v0, measured against itself (its pairs are the A/A run, R12)."""

from __future__ import annotations

from django.db import transaction

from campaigns.evaluator.contract import Source
from campaigns.models import (
    Campaign,
    CampaignState,
    EvaluationKind,
    Round,
    RoundKind,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.steps.measuring.request_evaluation import request_evaluation
from campaigns.steps.rounds.add_candidate import add_candidate
from campaigns.workers.notify import AGAIN, NOTHING, Next


def open_baseline(campaign: Campaign) -> Next:
    """Open round 1 with v0 as its candidate and queue its evaluation."""
    with transaction.atomic():
        if not move(campaign, CampaignState.BASELINE):
            return NOTHING
        round_ = Round.objects.create(campaign=campaign, number=1, kind=RoundKind.BASELINE)
        candidate = add_candidate(round_, 1, "v0", v0_source(campaign))
        request_evaluation(candidate, candidate, EvaluationKind.BASELINE)
        record(campaign, "round_opened", "round 1: the baseline, v0", round=round_)
    return AGAIN


def v0_source(campaign: Campaign) -> Source:
    """The problem's file for the campaign's backend, with the flags that problem.toml names."""
    problem, name = campaign.problem, campaign.problem.backends[campaign.backend]
    return Source(name, problem.files[name], problem.flags_of(campaign.backend))
