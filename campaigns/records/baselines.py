"""The reference implementations in torch of a campaign: what is wanted, its source, its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db.models import QuerySet

from campaigns.evaluator.contract import Source
from campaigns.models import Campaign, Evaluation, EvaluationKind, EvaluationState, Problem
from campaigns.models.kinds import TORCH
from campaigns.problems.torch_source import compiled_source, eager_source, library_source
from campaigns.records.evaluations import REPRODUCED_IN

# The key in Campaign.intake; rows from before it have none, and want none.
WANTED = "baselines"


def wants_baselines(campaign: Campaign) -> bool:
    """Whether torch is measured beside its incumbent."""
    return bool((campaign.intake or {}).get(WANTED))


def may_be_measured(evaluation: Evaluation) -> bool:
    """Whether a worker may take it now: it goes on when the campaign is done, not while paused."""
    campaign = evaluation.campaign
    return campaign.state in REPRODUCED_IN and not campaign.pause_requested


def _beside(campaign: Campaign) -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(candidate__round__campaign=campaign, kind__in=TORCH)


def is_over(campaign: Campaign) -> bool:
    """Whether nothing about it changes by itself any more: finished, and torch measured."""
    if not (campaign.is_finished and wants_baselines(campaign)):
        return campaign.is_finished
    return not _beside(campaign).exclude(state=EvaluationState.DONE).exists()


def waiting_beside(campaign: Campaign) -> tuple[int, ...]:
    """The keys of what a finished campaign has yet to be compared with."""
    if not campaign.is_finished:
        return ()
    waiting = _beside(campaign).filter(state=EvaluationState.QUEUED)
    return tuple(waiting.values_list("pk", flat=True))


# By kind: the source from the problem, and from the text of its reference.
SOURCES: Mapping[str, Callable[[Problem, str], Source]] = {
    EvaluationKind.EAGER: lambda problem, ref: eager_source(ref),
    EvaluationKind.COMPILE: lambda problem, ref: compiled_source(ref, ""),
    EvaluationKind.COMPILE_MAX: lambda problem, ref: compiled_source(ref, "max-autotune"),
    EvaluationKind.LIBRARY: lambda problem, ref: library_source(ref, problem.call_of_library),
}


def source_of(evaluation: Evaluation) -> Source:
    """What is measured beside the evaluation's candidate. Raises NoSource."""
    problem = evaluation.campaign.problem
    return SOURCES[evaluation.kind](problem, problem.files.get("ref.py", ""))


def evaluations_of(campaign: Campaign) -> dict[str, Evaluation]:
    """By kind the newest beside the incumbent, else the newest beside an earlier one. One query."""
    found: dict[str, Evaluation] = {}
    best = campaign.incumbent_id
    for one in _beside(campaign).select_related("candidate__round").order_by("pk"):
        before = found.get(one.kind)
        # An earlier row tells more, of a candidate that is still the incumbent.
        if before is None or before.candidate_id != best or one.candidate_id == best:
            found[one.kind] = one
    return {kind: found[kind] for kind in TORCH if kind in found}
