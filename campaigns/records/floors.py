"""The physical floor of every case, from a target as a campaign stores it (law 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.rules.target.roofline import Floor, Work, measured_slack, physical_floor
from knowledge.specs.cited import Cited, cited_in


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
