"""The goal of a campaign, parsed from a short text, and the target that follows (R6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from campaigns.rules.noise.gain import geomean
from campaigns.rules.target.roofline import LEAST_FRACTION, TARGET_FRACTION, Work
from campaigns.rules.target.target import METRICS, Target, absolute_target, baseline_target, shown
from campaigns.rules.wording import share
from knowledge.specs.quantity import Quantity, QuantityError

ACCEPTED = (
    "90% or ceiling:0.9 (of what the ceilings allow), baseline:1.5 (times the speed of v0), "
    "30 us, >500 TFLOPS, >=2.5 TB/s, or with the metric's name: time_us<=30, "
    "flops_per_s>=50 TFLOPS, bytes_per_s>=3.2 TB/s"
)
LONGEST = 80
MOST_TIMES = 1e6
UNITS = {"flops_per_s": "op/s", "bytes_per_s": "B/s"}
# Far beyond any device, and far within the range of floating-point arithmetic.
BETWEEN = {"time_us": (1e-6, 1e15), "flops_per_s": (1.0, 1e24), "bytes_per_s": (1.0, 1e24)}

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
_SHARE = re.compile(
    rf"(?:ceiling:\s*|(?:>=?|≥)\s*)?(?P<number>{_NUMBER})\s*%(?:\s*(?:of )?peak(?: efficiency)?)?"
    rf"|ceiling:\s*(?P<plain>{_NUMBER})",
    re.IGNORECASE,
)
_BASELINE = re.compile(rf"baseline:\s*(?P<number>{_NUMBER})\s*(?P<percent>%?)")
_ABSOLUTE = re.compile(
    rf"(?P<metric>[a-z_]+)\s*(?P<op><=|>=|≤|≥|[<>=]+)\s*(?P<number>{_NUMBER})\s*(?P<unit>\S*)"
)
# Without a metric's name, the unit says which one is meant.
_BARE = re.compile(rf"(?P<op><=|>=|≤|≥|[<>=]+)?\s*(?P<number>{_NUMBER})\s*(?P<unit>[^\s\d%]\S*)")
# A measured value never equals its target to the last digit, so < and <= ask for the same.
_OPS = {"<": "≤", "<=": "≤", "≤": "≤", ">": "≥", ">=": "≥", "≥": "≥"}
_TIMES = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}
_MICROSECONDS = 1e6


class GoalError(ValueError):
    """A goal that is out of reach or unreadable; the message says what is accepted."""


class GoalKind(StrEnum):
    """The basis of a goal. A ceiling is documented or measured, as step 0 finds it."""

    CEILING = "ceiling"
    BASELINE = "baseline_ratio"
    ABSOLUTE = "absolute"


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal as stated, before anything is looked up or measured.

    fraction: of the speed that the ceilings allow, or of the speed of v0; 1 for an absolute value.
    value: of `metric` (µs, op/s or B/s), the geometric mean over the cases; None if it follows from
    the fraction.
    """

    kind: GoalKind = GoalKind.CEILING
    fraction: float = TARGET_FRACTION
    metric: str = "time_us"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.kind is GoalKind.CEILING and not LEAST_FRACTION <= self.fraction <= 1:
            raise GoalError(
                f"target: {self.fraction!r} of a ceiling; accepted: {LEAST_FRACTION:g} to 1, "
                "which is 1 % to 100 %"
            )
        if self.kind is GoalKind.BASELINE and not 1 < self.fraction <= MOST_TIMES:
            raise GoalError(
                f"target: {self.fraction!r} times the speed of v0, which is 1 already; "
                f"accepted: above 1, at most {MOST_TIMES:g}, such as baseline:1.5"
            )
        if self.kind is GoalKind.ABSOLUTE:
            try:
                absolute_target(self.metric, self.value or 0.0)
            except ValueError as error:
                raise GoalError(f"target: {error}") from None
            low, high = BETWEEN[self.metric]
            if not low <= (self.value or 0.0) <= high:
                unit = UNITS.get(self.metric, "µs")
                raise GoalError(
                    f"target: {self.metric} {self.value:g} {unit}; "
                    f"accepted: {low:g} to {high:g} {unit}"
                )

    @property
    def stored(self) -> dict[str, Any]:
        """The target object of R6, as a campaign keeps it; `goal_from` reads it."""
        return {
            "metric": self.metric,
            "op": METRICS[self.metric].value,
            "value": self.value,
            "basis": self.kind.value,
            "fraction": self.fraction,
        }

    @property
    def typed(self) -> str:
        """The goal as `parse_goal` reads it."""
        if self.kind is GoalKind.ABSOLUTE:
            return f"{self.metric}{METRICS[self.metric].value}{self.value!r}"
        kind = "ceiling" if self.kind is GoalKind.CEILING else "baseline"
        return f"{kind}:{self.fraction!r}"

    def target(self, baseline_us: float | None) -> Target | None:
        """The one target over all cases; None for a ceiling, which gives each case its own.

        baseline_us: geometric mean of v0's times over the cases, None before they are measured.
        """
        if self.kind is GoalKind.ABSOLUTE and self.value is not None:
            return absolute_target(self.metric, self.value)
        if self.kind is GoalKind.BASELINE and baseline_us is not None:
            return baseline_target(baseline_us, self.fraction)
        return None

    def words(self, baseline_us: float | None, cases: int = 1) -> str:
        """The goal in one line."""
        over = f", as geometric mean over {cases} cases" if cases > 1 else ""
        found = self.target(baseline_us)
        if found is not None:
            return f"{found.words}{over}"
        if self.kind is GoalKind.BASELINE:
            return f"{share(self.fraction)} of the speed of v0, which is not measured yet{over}"
        return f"{share(self.fraction)} of what the ceilings allow{over}"


@dataclass(frozen=True, slots=True)
class Reached:
    """The incumbent's value beside a target over all cases."""

    target: Target
    measured: float

    @property
    def met(self) -> bool:
        return self.target.met(self.measured)

    @property
    def words(self) -> str:
        """Both sides: "time_us is 28.0 µs, the target is time_us ≤ 30.0 µs"."""
        name = self.target.metric
        return f"{name} is {shown(name, self.measured)}, the target is {self.target.words}"


def parse_goal(text: str) -> Goal:
    """Parse a goal; GoalError names what is accepted."""
    said = text.strip()
    if len(said) <= LONGEST:
        if found := _SHARE.fullmatch(said):
            percent = found["number"]
            fraction = float(percent) / 100 if percent else float(found["plain"])
            return Goal(GoalKind.CEILING, fraction)
        if found := _BASELINE.fullmatch(said):
            times = float(found["number"]) / (100 if found["percent"] else 1)
            return Goal(GoalKind.BASELINE, times)
        if found := _ABSOLUTE.fullmatch(said):
            return _absolute(found["metric"], found)
        if found := _BARE.fullmatch(said):
            return _absolute(_metric_of(found["unit"]), found)
    raise GoalError(f"target: {said[:LONGEST]!r}; accepted: {ACCEPTED}")


def goal_from(stored: Mapping[str, Any] | None, fraction: float = TARGET_FRACTION) -> Goal:
    """Read a stored goal; a missing one means that share of the ceilings."""
    if not stored:
        return Goal(fraction=fraction)
    kind = GoalKind(stored["basis"])
    return Goal(kind, float(stored["fraction"]), str(stored["metric"]), stored["value"])


def measured_by(
    metric: str, times_us: Mapping[str, float], works: Mapping[str, Work]
) -> float | None:
    """The metric over all cases as a geometric mean; None if a case's work or time is unknown.

    times_us: case → µs. Rates are those of the least work, as a floor counts it.
    """
    if metric == "time_us" or not times_us:
        return geomean(times_us.values()) if times_us else None
    if set(times_us) - set(works):
        return None
    kind = "flops" if metric == "flops_per_s" else "bytes"
    done = {name: getattr(works[name], kind) for name in times_us}
    if not all(done.values()):
        return None
    return geomean(done[name] / time * _MICROSECONDS for name, time in times_us.items())


def _absolute(metric: str, found: re.Match[str]) -> Goal:
    if metric not in METRICS:
        raise GoalError(f"target: metric {metric!r}; accepted: {', '.join(METRICS)}")
    op = METRICS[metric]
    if found["op"] and _OPS.get(found["op"]) != op:
        raise GoalError(f"target: {found['op']!r} of {metric}; accepted: {op.value}")
    return Goal(GoalKind.ABSOLUTE, 1.0, metric, _value(metric, found["number"], found["unit"]))


def _metric_of(unit: str) -> str:
    """The metric with this unit."""
    if unit in _TIMES:
        return "time_us"
    for metric, base in UNITS.items():
        try:
            Quantity.parse(f"1 {unit}").to(base)
        except QuantityError:
            continue
        return metric
    raise GoalError(f"target: unit {unit!r}; accepted: {ACCEPTED}")


def _value(metric: str, number: str, unit: str) -> float:
    if not unit:
        return float(number)
    if metric == "time_us":
        if unit not in _TIMES:
            accepted = ", ".join(_TIMES)
            raise GoalError(f"target: unit {unit!r} of time_us; accepted: {accepted}, or none")
        return float(number) * _TIMES[unit]
    try:
        return Quantity.parse(f"{number} {unit}").to(UNITS[metric]).value
    except QuantityError as error:
        raise GoalError(f"target: {error}") from None
