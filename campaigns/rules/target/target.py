"""The target of a campaign: a value that a measurement either reaches or not (R6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.target.roofline import TARGET_FRACTION, Bound, Placement
from campaigns.rules.wording import WordedEnum, amount, duration, share
from knowledge.specs.cited import EvidenceClass


class Op(StrEnum):
    """The direction of the comparison."""

    AT_LEAST = "≥"
    AT_MOST = "≤"


class Basis(WordedEnum):
    """The origin of the value."""

    PEAK = "peak", "documented peak"
    MEASURED_CEILING = "measured_ceiling"
    BASELINE_RATIO = "baseline_ratio", "baseline"
    ABSOLUTE = "absolute", "absolute value"


# The direction in which a metric is better. The other one would call a worse kernel a success.
METRICS: Mapping[str, Op] = {
    "time_us": Op.AT_MOST,
    "flops_per_s": Op.AT_LEAST,
    "bytes_per_s": Op.AT_LEAST,
}


@dataclass(frozen=True, slots=True)
class Target:
    """metric op value, such as time_us ≤ 37.8.

    fraction: the required share of the basis, above 1 for a multiple of a baseline's speed; it is
    already part of the value, and 1 for an absolute value. arithmetic: the calculation in words.
    """

    metric: str
    op: Op
    value: float
    basis: Basis
    fraction: float = TARGET_FRACTION
    arithmetic: str = ""

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(f"metric: {self.metric!r}; accepted: {', '.join(METRICS)}")
        if self.op is not METRICS[self.metric]:
            raise ValueError(f"op: {self.op!s} of {self.metric}; accepted: {METRICS[self.metric]}")
        if not 0 < self.value < math.inf:
            raise ValueError(f"value: {self.value!r}; accepted: finite, above 0")
        most = math.inf if self.basis is Basis.BASELINE_RATIO else 1
        if not 0 < self.fraction <= most:
            raise ValueError(f"fraction: {self.fraction!r}; accepted: above 0, at most {most:g}")
        if self.basis is Basis.ABSOLUTE and self.fraction != 1:
            raise ValueError(f"fraction: {self.fraction!r} of an absolute value; accepted: 1")

    def met(self, measured: float) -> bool:
        """Say whether a measured value of the metric reaches the target."""
        return measured <= self.value if self.op is Op.AT_MOST else measured >= self.value

    @property
    def words(self) -> str:
        """The goal in one line: "time_us ≤ 0.402 µs, 90 % of the documented peak: …"."""
        goal = f"{self.metric} {self.op} {shown(self.metric, self.value)}"
        if self.basis is not Basis.ABSOLUTE:
            goal += f", {share(self.fraction)} of the {self.basis.words}"
        return f"{goal}: {self.arithmetic}" if self.arithmetic else goal


def ceiling_target(placed: Placement) -> Target:
    """The time of one case: its floor under the chosen ceilings over the fraction.

    The basis is that of the ceiling which limits the case. Below the ridge this is the bandwidth; a
    measured value takes precedence over a documented one (`choose_ceiling`).
    """
    ceiling = placed.bandwidth if placed.bound is Bound.MEMORY else placed.compute
    measured = ceiling.evidence == EvidenceClass.MEASURED
    return Target(
        metric="time_us",
        op=Op.AT_MOST,
        value=placed.target_us,
        basis=Basis.MEASURED_CEILING if measured else Basis.PEAK,
        fraction=placed.fraction,
        arithmetic=placed.formula,
    )


def baseline_target(baseline_us: float, fraction: float = TARGET_FRACTION) -> Target:
    """At least `fraction` of the speed of a baseline of the same size, timed by the same judge."""
    if not 0 < fraction < math.inf:
        raise ValueError(f"fraction: {fraction!r}; accepted: finite, above 0")
    value = baseline_us / fraction
    arithmetic = f"{duration(baseline_us)} ÷ {share(fraction)} = {duration(value)}"
    return Target("time_us", Op.AT_MOST, value, Basis.BASELINE_RATIO, fraction, arithmetic)


def absolute_target(metric: str, value: float) -> Target:
    """A target given as an absolute value. ValueError names the accepted metrics."""
    if metric not in METRICS:
        raise ValueError(f"metric: {metric!r}; accepted: {', '.join(METRICS)}")
    return Target(metric, METRICS[metric], value, Basis.ABSOLUTE, 1.0)


def shown(metric: str, value: float) -> str:
    """Write a value of a metric with its unit."""
    if metric == "time_us":
        return duration(value)
    return amount(value, "op/s" if metric == "flops_per_s" else "B/s")
