"""Write a draft down as the next round; its candidates follow in a step of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, Q

from campaigns.models import Campaign, CampaignState, Round, RoundKind, Submission, Sweep
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.proposers.base import Draft, SweepPlan
from campaigns.proposers.drafts import stored_draft
from campaigns.records.rounds import evidence_of, proposed_by
from campaigns.workers.notify import AGAIN, NOTHING, Next
from knowledge.models import Adoption, Experience


def open_round(
    campaign: Campaign,
    draft: Draft,
    after: int,
    split: dict[str, Any] | None = None,
    submission: Submission | None = None,
) -> Next:
    """Open round n+1 with its hypothesis, what that rests on, and what the proposer answered.

    Nothing is asked twice after a crash: what was answered is in the row. after: how many rounds
    there were when the draft was asked for; it is dropped when another worker has tried one since,
    so that nothing is compared with an incumbent that was. split: what `Round.split`
    keeps of a dispatch split. submission: what the draft was handed in as; no second round is ever
    opened for it.
    """
    single = RoundKind.ATTEMPT if split is None else RoundKind.SPLIT
    several = len(draft.candidates) > 1 or draft.sweep is not None
    with transaction.atomic():
        later = Round.objects.filter(campaign=campaign.pk, number__gt=after)
        if not move(campaign, CampaignState.IMPLEMENT, ~Q(Exists(later))):
            return NOTHING
        round_ = Round.objects.create(
            campaign=campaign,
            number=after + 1,
            kind=RoundKind.SWEEP if several else single,
            split=split,
            submission=submission,
            hypothesis=asdict(draft.hypothesis),
            evidence=evidence_of(campaign),
            draft=stored_draft(draft.candidates),
            against=campaign.incumbent,
        )
        if draft.sweep is not None:
            _plan_sweep(round_, draft.sweep)
        _adopt(round_, draft.hypothesis.follows)
        record(
            campaign,
            "round_opened",
            f"round {round_.number}, {proposed_by(round_).words}: {draft.hypothesis.title}",
            round=round_,
        )
    return AGAIN


def _plan_sweep(round_: Round, plan: SweepPlan) -> None:
    Sweep.objects.create(
        round=round_,
        knobs=[
            {"name": name, "values": list(values), "default": default}
            for name, values, default in plan.knobs
        ],
        size=str(plan.size),
        strategy=plan.strategy,
        seed=plan.seed,
        seeds=[dict(point) for point in plan.seeds],
        most_points=plan.most_points,
        most_s=plan.most_s,
    )


def _adopt(round_: Round, uuids: Iterable[str]) -> None:
    """Write down which entries the round follows: "used in round 7"."""
    entries = Experience.objects.filter(uuid__in=list(uuids)).select_related("track")
    Adoption.objects.bulk_create(
        Adoption(
            campaign=round_.campaign_id,
            round=round_.number,
            strategy=entry.track.strategy,
            entry=entry,
        )
        for entry in entries.order_by("pk")
    )
