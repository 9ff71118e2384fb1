"""A campaign's target as set_target stored it, and the physical floor of every case (law 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import DatabaseError

from campaigns.devices.problem_code import work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.ceilings import BUSY_LIMIT
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.models import Campaign
from campaigns.rules.target.ceilings import PLACEHOLDER
from campaigns.rules.target.goal import Goal, goal_from
from campaigns.rules.target.roofline import (
    Floor,
    Work,
    choose_ceiling,
    measured_slack,
    physical_floor,
    share_of_floor,
)
from campaigns.rules.verdict.chained import Times
from knowledge.lookup.value import (
    bandwidth_ceilings,
    compute_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
    platform_for_device,
)
from knowledge.specs.cited import UNKNOWN, Cited, cited_in


@dataclass(frozen=True, slots=True)
class CaseTarget:
    """What step 0 found for one case; the times are None where a ceiling is unknown.

    words: the target with its basis and arithmetic. limit: the ceiling that holds the case back.
    """

    case: str
    flops: float
    bytes: float
    bound: str
    floor_us: float | None
    target_us: float | None
    formula: str
    words: str = ""
    limit: Cited | None = None

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes


@dataclass(frozen=True, slots=True)
class Assumption:
    """A placeholder in use: what a person allowed where nothing is cited. question: bandwidth…"""

    question: str
    shown: str
    reason: str
    allowed_by: str


@dataclass(frozen=True, slots=True)
class StoredRidge:
    """One dtype against one memory level, and the two ceilings, None where one is unknown."""

    dtype: str
    accumulate: str
    level: str
    text: str
    bandwidth: Cited | None
    compute: Cited | None

    @property
    def is_known(self) -> bool:
        return self.bandwidth is not None and self.compute is not None


@dataclass(frozen=True, slots=True)
class CampaignTarget:
    """The goal as a fraction of the floor, every known ceiling with its citation, and each case.

    bandwidth, compute: the ceilings that the target rests on, out of bandwidths and computes.
    lessers: the ceilings of lower precisions, by which a changed precision is found.
    provisional: the cases as placeholders would have them; no share, stop or floor rests on those.
    goal: what was requested. busy: the share of CPU time that other programs used during measuring.
    """

    fraction: float
    bandwidth: Cited | None
    compute: Cited | None
    bandwidths: tuple[Cited, ...]
    computes: tuple[Cited, ...]
    cases: Mapping[str, CaseTarget]
    is_set: bool
    lessers: tuple[Cited, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    provisional: Mapping[str, CaseTarget] = field(default_factory=dict)
    goal: Goal = field(default_factory=Goal)
    ridges: tuple[StoredRidge, ...] = ()
    busy: Cited | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the ceilings may be too low because the host was busy with something else."""
        return self.busy is not None and self.busy.value > BUSY_LIMIT

    @property
    def missing(self) -> str:
        """What is shown instead of a target; empty where there is nothing missing."""
        if not self.is_set or (self.bandwidth and self.compute):
            return ""
        return PLACEHOLDER if self.provisional else UNKNOWN

    @property
    def citations(self) -> tuple[Cited, ...]:
        """The two ceilings that the target rests on, where they are known."""
        return tuple(cited for cited in (self.bandwidth, self.compute) if cited)


def target_of(campaign: Campaign) -> CampaignTarget:
    """Read `campaign.target`, as set_target writes it; empty before step 0."""
    stored: Mapping[str, Any] = campaign.target
    bandwidths, computes = cited_in(stored, "bandwidth"), cited_in(stored, "compute")
    cases = stored.get("cases") or {}
    return CampaignTarget(
        fraction=float(stored.get("fraction") or campaign.stop_policy.get("target_fraction", 0.9)),
        bandwidth=choose_ceiling(bandwidths),
        compute=choose_ceiling(computes),
        bandwidths=bandwidths,
        computes=computes,
        cases={name: _case_target(name, item) for name, item in cases.items()},
        is_set=bool(stored),
        lessers=cited_in(stored, "lesser"),
        goal=goal_from(campaign.goal, float(campaign.stop_policy.get("target_fraction", 0.9))),
        ridges=tuple(_ridge(item, stored) for item in stored.get("ridges") or ()),
        busy=next(iter(cited_in(stored, "busy_share")), None),
        assumptions=tuple(
            Assumption(question, item["shown"], item["reason"], item["allowed_by"])
            for question, item in (stored.get("placeholders") or {}).items()
        ),
        provisional={
            name: _case_target(name, {**cases[name], **item})
            for name, item in (stored.get("provisional") or {}).items()
        },
    )


def _ridge(item: Mapping[str, Any], stored: Mapping[str, Any]) -> StoredRidge:
    # Targets of before this was stored have the text alone.
    return StoredRidge(
        dtype=str(item["dtype"]),
        accumulate=str(stored.get("accumulate") or ""),
        level=str(item["level"]),
        text=str(item["text"]),
        bandwidth=next(iter(cited_in(item, "bandwidth")), None),
        compute=next(iter(cited_in(item, "compute")), None),
    )


def _case_target(name: str, value: Mapping[str, Any]) -> CaseTarget:
    return CaseTarget(
        case=name,
        flops=float(value["flops"]),
        bytes=float(value["bytes"]),
        bound=str(value.get("bound") or ""),
        floor_us=value.get("floor_us"),
        target_us=value.get("target_us"),
        formula=str(value.get("formula") or ""),
        words=str((value.get("goal") or {}).get("words") or ""),
        limit=next(
            iter(cited_in(value, "bandwidth" if value.get("bound") == "memory" else "compute")),
            None,
        ),
    )


def share_of(times_us: Times, target: CampaignTarget) -> float | None:
    """The share of the floor reached over all cases; None where a time or a floor is unknown."""
    pairs = [
        (floor, time)
        for case, time in times_us.items()
        if (known := target.cases.get(case)) and (floor := known.floor_us)
    ]
    return share_of_floor(pairs) if pairs and len(pairs) == len(times_us) else None


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
