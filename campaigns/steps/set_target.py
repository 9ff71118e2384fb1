"""Step 0: the target from cited specs, before anything is measured (law 1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction

from campaigns.bell import AGAIN, NOTHING, Next
from campaigns.devices.launch import work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.problem import ProblemError
from campaigns.models import AbortReason, Campaign, CampaignState
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.rules.ridges import Level, ridges
from campaigns.rules.roofline import Placement, Work, choose_ceiling, place
from campaigns.rules.target import ceiling_target
from campaigns.scratch import scratch
from campaigns.steps.abort import abort
from campaigns.steps.materialise import materialise
from knowledge.lookup import (
    bandwidth_ceilings,
    cache_bandwidth_ceilings,
    compute_ceilings,
    host_busy_share,
)
from knowledge.specs.cited import UNKNOWN, Cited

KNOWN = "known"


def set_target(campaign: Campaign) -> Next:
    """Write `campaign.target`; a missing spec leaves it UNKNOWN and the campaign still runs.

    Shape: {"state": "known" | "UNKNOWN …", "fraction", "missing": [names], "bandwidth": [Cited],
    "compute": [Cited], "busy_share": Cited | None, "ridges": [{"dtype", "level", "flops_per_byte",
    "text"}], "cases": {name: {"flops", "bytes", "intensity", "ridge", "bound", "floor_us",
    "target_us", "attainable_flops_per_s", "formula", "goal": {fields of `Target`, "words"},
    "bandwidth": Cited, "compute": Cited}}}. A case of an unknown target has flops, bytes and
    intensity only.
    A problem whose own code fails aborts the campaign.
    """
    try:
        works = _work(campaign)
    except ProblemError as error:
        return abort(campaign, AbortReason.PROBLEM_UNUSABLE, str(error))
    target = _target(campaign, works)
    prepared = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.PREPARE, target={})
    with transaction.atomic():
        if not claim(prepared, target=target):
            return NOTHING
        record(campaign, "target_set", _sentence(target))
    return AGAIN


def _work(campaign: Campaign) -> dict[str, Work]:
    rows = campaign.problem.cases.filter(name__in=campaign.cases)
    cases = tuple(Case(name=row.name, params=row.params) for row in rows)
    with scratch("work") as folder:
        found = work_model(materialise(campaign.problem, folder), cases)
    return {name: Work(flops=flops, bytes=bytes_) for name, (flops, bytes_) in found.items()}


def _target(campaign: Campaign, works: dict[str, Work]) -> dict[str, Any]:
    bandwidths = bandwidth_ceilings(campaign.platform)
    computes = compute_ceilings(campaign.platform, campaign.problem.dtype)
    bandwidth, compute = choose_ceiling(bandwidths), choose_ceiling(computes)
    busy = host_busy_share(campaign.platform)
    fraction = float(campaign.stop_policy["target_fraction"])
    missing = [
        name for name, found in (("bandwidth", bandwidth), ("compute", compute)) if not found
    ]
    return {
        "state": UNKNOWN if missing else KNOWN,
        "fraction": fraction,
        "missing": missing,
        "bandwidth": [asdict(cited) for cited in bandwidths],
        "compute": [asdict(cited) for cited in computes],
        "busy_share": asdict(busy) if busy else None,
        "ridges": _ridges(campaign, computes, bandwidths),
        "cases": {name: _case(work, bandwidth, compute, fraction) for name, work in works.items()},
    }


def _ridges(
    campaign: Campaign, computes: list[Cited], bandwidths: list[Cited]
) -> list[dict[str, Any]]:
    levels = {Level.DRAM: bandwidths, Level.CACHE: cache_bandwidth_ceilings(campaign.platform)}
    return [
        {
            "dtype": ridge.dtype,
            "level": ridge.level.value,
            "flops_per_byte": ridge.flops_per_byte,
            "text": ridge.text,
        }
        for ridge in ridges({campaign.problem.dtype: computes}, levels)
    ]


def _case(
    work: Work, bandwidth: Cited | None, compute: Cited | None, fraction: float
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "flops": work.flops,
        "bytes": work.bytes,
        "intensity": work.intensity,
    }
    placed = place(work, bandwidth, compute, fraction)
    if not isinstance(placed, Placement):
        return facts
    goal = ceiling_target(placed)
    return facts | {
        "ridge": placed.ridge,
        "bound": placed.bound.value,
        "floor_us": placed.floor_us,
        "target_us": placed.target_us,
        "attainable_flops_per_s": placed.attainable_flops_per_s,
        "formula": placed.formula,
        "goal": asdict(goal) | {"words": goal.words},
        "bandwidth": asdict(placed.bandwidth),
        "compute": asdict(placed.compute),
    }


def _sentence(target: dict[str, Any]) -> str:
    if target["missing"]:
        return f"target: {UNKNOWN}: {', '.join(target['missing'])} of the platform"
    return f"target: {target['fraction']:.0%} of the floor on {len(target['cases'])} cases"
