"""From the ceilings of a platform and the work of each case to the target of a campaign (R3, R6).

A target on an assumed ceiling is stored apart from a cited one: it has no floor_us and no
target_us, so no stop, verdict or comparison can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from campaigns.rules.target.roofline import Placement, Work, choose_ceiling, place
from campaigns.rules.target.target import ceiling_target
from knowledge.specs.cited import UNKNOWN, Cited

KNOWN = "known"
PLACEHOLDER = "unverified placeholder"
# Question → the unit of its ceilings.
QUESTIONS: Mapping[str, str] = {"bandwidth": "B/s", "compute": "op/s"}


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The cited ceilings of both kinds, and the values that a person allowed where none is cited.

    assumed: question → a value without a citation; its evidence is PLACEHOLDER.
    """

    bandwidths: tuple[Cited, ...]
    computes: tuple[Cited, ...]
    assumed: Mapping[str, Cited]

    @property
    def bandwidth(self) -> Cited | None:
        return choose_ceiling(self.bandwidths)

    @property
    def compute(self) -> Cited | None:
        return choose_ceiling(self.computes)

    @property
    def missing(self) -> list[str]:
        """The questions without a cited ceiling."""
        found = {"bandwidth": self.bandwidth, "compute": self.compute}
        return [name for name, cited in found.items() if cited is None]

    @property
    def used(self) -> dict[str, Cited]:
        """The assumptions that replace a missing ceiling."""
        return {name: self.assumed[name] for name in self.missing if name in self.assumed}

    @property
    def state(self) -> str:
        """KNOWN, PLACEHOLDER where assumptions fill every gap, else UNKNOWN."""
        if not self.missing:
            return KNOWN
        return PLACEHOLDER if len(self.used) == len(self.missing) else UNKNOWN


def target_under(ceilings: Ceilings, works: Mapping[str, Work], fraction: float) -> dict[str, Any]:
    """The target as a campaign stores it; `campaigns.steps.lifecycle.set_target` says its shape."""
    return {
        "state": ceilings.state,
        "fraction": fraction,
        "missing": ceilings.missing,
        "bandwidth": [asdict(cited) for cited in ceilings.bandwidths],
        "compute": [asdict(cited) for cited in ceilings.computes],
        "cases": {name: _case(work, ceilings, fraction) for name, work in works.items()},
    }


def provisional(
    ceilings: Ceilings, works: Mapping[str, Work], fraction: float
) -> dict[str, dict[str, Any]]:
    """Per case the target under the assumptions; empty unless they fill every gap."""
    if ceilings.state != PLACEHOLDER:
        return {}
    used = ceilings.used
    bandwidth = ceilings.bandwidth or used.get("bandwidth")
    compute = ceilings.compute or used.get("compute")
    placed = {name: place(work, bandwidth, compute, fraction) for name, work in works.items()}
    return {
        name: {
            "floor_us": found.floor_us,
            "target_us": found.target_us,
            "bound": found.bound.value,
            "formula": found.formula,
        }
        for name, found in placed.items()
        if isinstance(found, Placement)
    }


def _case(work: Work, ceilings: Ceilings, fraction: float) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "flops": work.flops,
        "bytes": work.bytes,
        "intensity": work.intensity,
    }
    placed = place(work, ceilings.bandwidth, ceilings.compute, fraction)
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
