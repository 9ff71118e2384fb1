"""The physical floors of a problem that belongs to no campaign, on the device at hand (law 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import DatabaseError

from campaigns.devices.problem_code import work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.rules.target.ceilings import CampaignTarget, CaseTarget, Disputed
from campaigns.rules.target.roofline import Floor
from knowledge.lookup.value import (
    bandwidth_ceilings,
    compute_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
    platform_for_device,
)

Floors = tuple[dict[str, Floor], dict[str, Floor]]


def floors_here(name: str, spec: ProblemSpec, cases: Sequence[Case]) -> Floors:
    """The floors, and those of lesser precisions, on the platform of that device name as cited now.

    Empty where the platform or its ceilings are unknown, or there is no database. Runs the
    problem's code; raises ProblemError.
    """
    try:
        platform = platform_for_device(name)
        if platform is None:
            return {}, {}
        bandwidths = bandwidth_ceilings(platform)
        computes = compute_ceilings(platform, spec.dtype, accumulate=spec.accumulate)
        if not bandwidths and not computes:
            return {}, {}
        target = CampaignTarget(
            bandwidths=tuple(bandwidths),
            computes=tuple(computes),
            disputed=Disputed(
                tuple(higher_rivals(platform, bandwidths)), tuple(higher_rivals(platform, computes))
            ),
            lessers=tuple(lesser_ceilings(platform, spec.dtype)),
            busy=host_busy_share(platform),
        )
    except DatabaseError:
        return {}, {}
    works = work_model(spec.folder, cases)
    known = {case: CaseTarget(flops, moved) for case, (flops, moved) in works.items()}
    target = replace(target, cases=known)
    return target.floors, target.lesser_floors
