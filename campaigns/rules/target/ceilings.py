"""From the ceilings of a platform and the work of each case to the target of a campaign (R3, R6).

A target on an assumed ceiling is stored apart from a cited one: it has no floor_us and no
target_us, so no stop, verdict or comparison can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from campaigns.rules.target.roofline import (
    TARGET_FRACTION,
    Bound,
    Floor,
    Ridge,
    Work,
    choose_ceiling,
    measured_slack,
    physical_floor,
    place,
)
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


@dataclass(frozen=True, slots=True)
class CaseTarget:
    """What step 0 found for one case; the times are None where a ceiling is unknown.

    ridge, attainable_flops_per_s: under the two ceilings, which are bandwidth and compute. goal:
    the fields of `Target` with its words. case: its name, which old rows have as the key alone.
    """

    flops: float
    bytes: float
    case: str = ""
    bound: str = ""
    floor_us: float | None = None
    target_us: float | None = None
    formula: str = ""
    ridge: float | None = None
    attainable_flops_per_s: float | None = None
    goal: dict[str, Any] = field(default_factory=dict)
    bandwidth: Cited | None = None
    compute: Cited | None = None

    @property
    def work(self) -> Work:
        return Work(self.flops, self.bytes)

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes

    @property
    def words(self) -> str:
        """The target with its basis and arithmetic."""
        return str(self.goal.get("words") or "")

    @property
    def limit(self) -> Cited | None:
        """The ceiling that holds the case back."""
        return self.bandwidth if self.bound == Bound.MEMORY else self.compute


@dataclass(frozen=True, slots=True)
class ProvisionalTarget:
    """What a case would come to under assumptions; no share, stop or floor rests on it."""

    floor_us: float
    target_us: float
    bound: str
    formula: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """A placeholder in use: what a person allowed where nothing is cited."""

    shown: str
    reason: str
    allowed_by: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Disputed:
    """Higher values of other sources, which only the physical floor heeds."""

    bandwidth: tuple[Cited, ...] = ()
    compute: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class CampaignTarget:
    """The share of the floor that is wanted, every known ceiling with its citation, and each case.

    state: KNOWN or PLACEHOLDER; "" before step 0. unknown: the questions without a cited ceiling.
    lessers: the faster units of lesser precisions, by which a changed precision is told from the
    impossible. busy: the share of CPU time that other programs used during measuring. assumed:
    question → the placeholder in use; provisional: the cases as these would have them.
    """

    fraction: float = TARGET_FRACTION
    state: str = ""
    unknown: tuple[str, ...] = ()
    bandwidths: tuple[Cited, ...] = ()
    computes: tuple[Cited, ...] = ()
    disputed: Disputed | None = None
    lessers: tuple[Cited, ...] = ()
    busy: Cited | None = None
    accumulate: str = ""
    ridges: tuple[Ridge, ...] = ()
    cases: dict[str, CaseTarget] = field(default_factory=dict)
    assumed: dict[str, Assumption] = field(default_factory=dict)
    provisional: dict[str, ProvisionalTarget] = field(default_factory=dict)

    @property
    def is_set(self) -> bool:
        return bool(self.state)

    @property
    def bandwidth(self) -> Cited | None:
        """The ceiling that the target rests on."""
        return choose_ceiling(self.bandwidths)

    @property
    def compute(self) -> Cited | None:
        """The ceiling that the target rests on."""
        return choose_ceiling(self.computes)

    @property
    def missing(self) -> str:
        """What is shown instead of a target; empty where there is nothing missing."""
        if not self.is_set or (self.bandwidth and self.compute):
            return ""
        return PLACEHOLDER if self.provisional else UNKNOWN

    @property
    def roof_words(self) -> str:
        """What every share of the cases' floors is a share of: "the measured 4.26 TB/s"."""
        limits = [case.limit.words for case in self.cases.values() if case.limit]
        return " or ".join(dict.fromkeys(limits))

    @property
    def citations(self) -> tuple[Cited, ...]:
        """The two ceilings that the target rests on, where they are known."""
        return tuple(cited for cited in (self.bandwidth, self.compute) if cited)

    def cited(self, role: str) -> tuple[Cited, ...]:
        """The values that were used as `bandwidth`, `compute` or `busy_share`."""
        if role == "busy_share":
            return (self.busy,) if self.busy else ()
        return self.bandwidths if role == "bandwidth" else self.computes

    @property
    def floors(self) -> dict[str, Floor]:
        """Case → the time that no kernel in the declared precision can beat (law 6).

        A case without any ceiling is left out. Ceilings that other sources give higher count here,
        since they make a time possible.
        """
        return self._floors(())

    @property
    def lesser_floors(self) -> dict[str, Floor]:
        """Case → the same on the fastest units of lesser precisions; empty where none are known."""
        return self._floors(self.lessers) if self.lessers else {}

    def _floors(self, more: tuple[Cited, ...]) -> dict[str, Floor]:
        rivals = self.disputed or Disputed()
        bandwidths = self.bandwidths + rivals.bandwidth
        computes = self.computes + rivals.compute + more
        slack = measured_slack(self.busy.value if self.busy else 0.0)
        found = {
            name: physical_floor(case.work, bandwidths, computes, slack)
            for name, case in self.cases.items()
        }
        return {name: floor for name, floor in found.items() if floor is not None}


def target_under(ceilings: Ceilings, works: Mapping[str, Work], fraction: float) -> CampaignTarget:
    """The target of cases with this work; provisional where assumptions fill every gap."""
    used = ceilings.used if ceilings.state == PLACEHOLDER else {}
    bandwidth = ceilings.bandwidth or used.get("bandwidth")
    compute = ceilings.compute or used.get("compute")
    cases, provisional = {}, {}
    for name, work in works.items():
        cases[name] = _case(name, work, ceilings, fraction)
        found = place(work, bandwidth, compute, fraction) if used else None
        if found is not None:
            times = (found.floor_us, found.target_us)
            provisional[name] = ProvisionalTarget(*times, found.bound.value, found.formula)
    return CampaignTarget(
        fraction=fraction,
        state=ceilings.state,
        unknown=tuple(ceilings.missing),
        bandwidths=ceilings.bandwidths,
        computes=ceilings.computes,
        cases=cases,
        provisional=provisional,
    )


def _case(name: str, work: Work, ceilings: Ceilings, fraction: float) -> CaseTarget:
    placed = place(work, ceilings.bandwidth, ceilings.compute, fraction)
    if placed is None:
        return CaseTarget(work.flops, work.bytes, name)
    goal = ceiling_target(placed)
    return CaseTarget(
        case=name,
        flops=work.flops,
        bytes=work.bytes,
        bound=placed.bound.value,
        floor_us=placed.floor_us,
        target_us=placed.target_us,
        formula=placed.formula,
        ridge=placed.ridge,
        attainable_flops_per_s=placed.attainable_flops_per_s,
        goal=asdict(goal) | {"words": goal.words},
        bandwidth=placed.bandwidth,
        compute=placed.compute,
    )
