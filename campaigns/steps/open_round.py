"""Write a draft down as the next round, with its candidates and their first evaluations."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction

from campaigns.bell import AGAIN, NOTHING, Next
from campaigns.models import Campaign, CampaignState, EvaluationKind, Round, RoundKind
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.proposers.base import Draft
from campaigns.steps.add_candidate import add_candidate
from campaigns.steps.request_evaluation import request_evaluation


def open_round(campaign: Campaign, draft: Draft, split: dict[str, Any] | None = None) -> Next:
    """Open round n+1. One candidate is measured in full at once, several are screened first.

    What the campaign's findings policy refuses is stored, and never built or run.
    split: what `Round.split` keeps of a dispatch split.
    """
    sweep = len(draft.candidates) > 1
    single = RoundKind.ATTEMPT if split is None else RoundKind.SPLIT
    with transaction.atomic():
        if not move(campaign, CampaignState.VALIDATE):
            return NOTHING
        round_ = Round.objects.create(
            campaign=campaign,
            number=campaign.rounds.count() + 1,
            kind=RoundKind.SWEEP if sweep else single,
            split=split,
            hypothesis=asdict(draft.hypothesis),
            against=campaign.incumbent,
        )
        for ordinal, variant in enumerate(draft.candidates, 1):
            candidate = add_candidate(
                round_, ordinal, variant.label, variant.source, variant.params
            )
            kind = EvaluationKind.SCREEN if sweep else EvaluationKind.DECIDE
            request_evaluation(candidate, campaign.incumbent, kind)
        record(
            campaign,
            "round_opened",
            f"round {round_.number}: {draft.hypothesis.title}",
            round=round_,
        )
    return AGAIN
