"""A search that is shared: the help with it, and whether the helpers are needed elsewhere."""

from __future__ import annotations

from django.db.models import QuerySet

from campaigns.models import Campaign, Evaluation, EvaluationKind, EvaluationState
from campaigns.models.evaluation import BESIDE, HELP
from campaigns.models.transitions import WORKING

# What waits beside the campaigns, perhaps for one certain device.
NOT_AWAITED = (*HELP, *BESIDE)


def help_of(search: Evaluation, *kinds: EvaluationKind) -> QuerySet[Evaluation]:
    """What others do, or did, for a search, or for an earlier attempt at it."""
    return Evaluation.objects.filter(candidate=search.candidate_id, kind__in=kinds or HELP)


def is_searched(share: Evaluation) -> bool:
    """Whether the search that a share belongs to goes on."""
    searches = Evaluation.objects.filter(candidate=share.candidate_id, kind=EvaluationKind.SWEEP)
    return searches.filter(state=EvaluationState.RUNNING).exists()


def is_wanted_elsewhere(campaign: Campaign) -> bool:
    """Whether another campaign waits for a device of this platform."""
    return rounds_waiting(campaign.platform_id).exists()


def rounds_waiting(platform: int) -> QuerySet[Evaluation]:
    """What campaigns at work wait for and no worker of this platform has taken."""
    waiting = Evaluation.objects.filter(
        state=EvaluationState.QUEUED,
        candidate__round__campaign__platform=platform,
        candidate__round__campaign__state__in=WORKING,
        candidate__round__campaign__pause_requested=False,
    )
    return waiting.exclude(kind__in=NOT_AWAITED)
