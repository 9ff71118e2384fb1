"""Turn the drafted sources of the open round into examined candidates with evaluations."""

from __future__ import annotations

from django.db import transaction

from campaigns.models import CampaignState, EvaluationKind, Round, Sweep
from campaigns.models.event import record
from campaigns.models.transitions import claim, move
from campaigns.proposers.drafts import drafted_in
from campaigns.steps.measuring.request_evaluation import request_evaluation
from campaigns.steps.rounds.add_candidate import add_candidate
from campaigns.workers.notify import AGAIN, NOTHING, Next


def implement(round_: Round) -> Next:
    """Store each source of the draft. One is measured in full at once, several are screened first.

    What the campaign's findings policy refuses is stored, and never built or run.
    """
    campaign, kind = round_.campaign, round_.traits.evaluated_as
    if Sweep.objects.filter(round=round_).exists():
        kind = EvaluationKind.SWEEP
    drafted = drafted_in(round_.draft or [])
    with transaction.atomic():
        if not move(campaign, CampaignState.VALIDATE):
            return NOTHING
        for ordinal, variant in enumerate(drafted, 1):
            candidate = add_candidate(
                round_, ordinal, variant.label, variant.source, variant.params
            )
            request_evaluation(candidate, round_.against, kind)
        claim(Round.objects.filter(pk=round_.pk), draft=None)
        count = f"{len(drafted)} candidate{'s' * (len(drafted) != 1)}"
        record(campaign, "implemented", f"round {round_.number}: {count}", round=round_)
    return AGAIN
