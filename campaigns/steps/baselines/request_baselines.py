"""Have torch measured beside the incumbent: eager, compiled, and the library's own kernel."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.kinds import TORCH
from campaigns.models.transitions import move
from campaigns.problems.torch_source import NoSource
from campaigns.records.baselines import source_of, wants_baselines


def request_baselines(campaign: Campaign) -> tuple[int, ...]:
    """Queue what has not been measured beside this incumbent, in the caller's transaction.

    Returns the keys that a worker may claim. What the problem cannot have is done at once, with
    the reason, and so is what still waits to be measured beside an earlier incumbent. No campaign
    waits for any of it.
    """
    if campaign.incumbent is None or not wants_baselines(campaign):
        return ()
    late = Evaluation.objects.filter(candidate__round__campaign=campaign, kind__in=TORCH)
    for evaluation in late.filter(state=EvaluationState.QUEUED).exclude(
        candidate=campaign.incumbent
    ):
        _end(evaluation, "the best has changed before a device was free")
    queued = []
    for kind in TORCH:
        evaluation, is_new = Evaluation.objects.get_or_create(
            candidate=campaign.incumbent, kind=kind, attempt=1
        )
        if is_new and (why := _why_not(evaluation)):
            _end(evaluation, why)
        elif is_new:
            queued.append(evaluation.pk)
    return tuple(queued)


def _end(evaluation: Evaluation, why: str) -> None:
    move(evaluation, EvaluationState.DONE, reason=why, finished_at=timezone.now())


def _why_not(evaluation: Evaluation) -> str:
    try:
        source_of(evaluation)
    except NoSource as error:
        return str(error)
    return ""
