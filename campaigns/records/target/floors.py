"""The physical floor of every case, from a target as a campaign stores it (law 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import DatabaseError

from campaigns.devices.problem_code import work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.target.roofline import Floor, Work, measured_slack, physical_floor
from knowledge.lookup.value import (
    bandwidth_ceilings,
    compute_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
    platform_for_device,
)
from knowledge.specs.cited import Cited, cited_in

Floors = tuple[dict[str, Floor], dict[str, Floor]]


def floors_of(target: Mapping[str, Any]) -> dict[str, Floor]:
    """Case → the time that no kernel in the declared precision can beat.

    target: the shape that set_target writes. A case without any ceiling is left
    out. Ceilings that other sources give higher count here, since they make a time possible.
    """
    return _floors(target, _cited(target, "compute"))


def lesser_floors_of(target: Mapping[str, Any]) -> dict[str, Floor]:
    """Case → the same on the fastest units of lesser precisions; empty where none are known."""
    lesser = cited_in(target, "lesser")
    return _floors(target, (*_cited(target, "compute"), *lesser)) if lesser else {}


def floors_here(name: str, spec: ProblemSpec, cases: Sequence[Case]) -> Floors:
    """The same two for a problem on the platform of that device name, from what is cited now.

    Empty where the platform or its ceilings are unknown, or there is no database. Runs the
    problem's code; raises ProblemError.
    """
    try:
        target = _cited_now(name, spec)
    except DatabaseError:
        return {}, {}
    if not target:
        return {}, {}
    works = work_model(spec.folder, cases)
    target["cases"] = {case: {"flops": flops, "bytes": b} for case, (flops, b) in works.items()}
    return floors_of(target), lesser_floors_of(target)


def _cited_now(name: str, spec: ProblemSpec) -> dict[str, Any]:
    """The ceilings as set_target writes them; empty where none is known."""
    platform = platform_for_device(name)
    if platform is None:
        return {}
    bandwidths = bandwidth_ceilings(platform)
    computes = compute_ceilings(platform, spec.dtype, accumulate=spec.accumulate)
    busy = host_busy_share(platform)
    if not bandwidths and not computes:
        return {}
    return {
        "bandwidth": [asdict(c) for c in (*bandwidths, *higher_rivals(platform, bandwidths))],
        "compute": [asdict(c) for c in (*computes, *higher_rivals(platform, computes))],
        "lesser": [asdict(c) for c in lesser_ceilings(platform, spec.dtype)],
        "busy_share": asdict(busy) if busy else None,
    }


def _floors(target: Mapping[str, Any], computes: Sequence[Cited]) -> dict[str, Floor]:
    busy = next(iter(cited_in(target, "busy_share")), None)
    slack = measured_slack(busy.value if busy else 0.0)
    bandwidths = _cited(target, "bandwidth")
    works = {
        name: Work(flops=case["flops"], bytes=case["bytes"])
        for name, case in target.get("cases", {}).items()
    }
    found = {
        name: physical_floor(work, bandwidths, computes, slack) for name, work in works.items()
    }
    return {name: floor for name, floor in found.items() if floor is not None}


def _cited(target: Mapping[str, Any], kind: str) -> tuple[Cited, ...]:
    return cited_in(target, kind) + cited_in(target.get("disputed") or {}, kind)
