"""Stored profiles as what they say, with what the problem knows of the work beside the counters."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.evaluator.contract import Profile
from campaigns.models import Candidate, Evaluation
from campaigns.models.campaign import Campaign
from campaigns.models.kinds import CODE_IS_READ
from campaigns.profiles.kernel_profile import ProfileError
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.reading import MovedBytes, Profiled, moved_bytes, read_profile
from campaigns.records.campaigns import target_of
from campaigns.records.evaluations import report_of
from knowledge.experience.terms import family_of
from knowledge.lookup.value import cited_or_none

PRODUCTS = ("matmul", "attention", "convolution")


def is_product(op: str) -> bool:
    """Whether this operation multiplies matrices."""
    return family_of(op) in PRODUCTS


def stored_profile(evaluations: Iterable[Evaluation]) -> Profile | None:
    """As it was counted the last time; of one candidate's evaluations, the newest first."""
    for evaluation in evaluations:
        report = report_of(evaluation) if evaluation.traits.reads_code else None
        if report and report.profile:
            return report.profile
    return None


def profile_of(candidate: Candidate) -> Profiled | None:
    """What was counted when it was measured to become the incumbent; None where nothing was."""
    rows = candidate.evaluations.filter(kind__in=CODE_IS_READ).order_by("-pk")
    return profiled_in(stored_profile(rows), candidate.round.campaign)


def profiled_in(stored: Profile | None, campaign: Campaign) -> Profiled | None:
    """None where nothing was counted, or what was stored is no profile."""
    if stored is None or not stored.text:
        return None
    placed = target_of(campaign).cases.get(stored.case)
    least = placed.bytes if placed and placed.bytes >= 1 else None
    try:
        return read_profile(stored, KernelWork(is_product(campaign.problem.op), least))
    except ProfileError:
        return None


def moved_in(found: Profiled, campaign: Campaign) -> MovedBytes | None:
    """Counted bytes beside those of the problem's formula; None where one is not known."""
    placed = target_of(campaign).cases.get(found.case)
    cache = cited_or_none(campaign.platform, "l2_size")
    return moved_bytes(found, placed.bytes, cache.value if cache else None) if placed else None
