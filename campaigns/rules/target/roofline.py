"""Where a kernel stands under its cited ceilings, and what it may aim for (R4, R5, R6; law 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.noise.gain import geomean
from campaigns.rules.wording import amount, digits, duration, share
from knowledge.specs.cited import UNKNOWN, Cited, EvidenceClass

TARGET_FRACTION = 0.90
# The least share of a ceiling that a goal may name. Any kernel that can be timed reaches it, and a
# far smaller share leads to an infinite time.
LEAST_FRACTION = 0.01
# A measured ceiling is itself noisy, so a physical limit derived from it gets this much slack.
MEASURED_SLACK = 0.03
BUSIEST = 0.9
# A measured rate below this share of the documented peak is a limit of the measuring method, such
# as a library without a kernel for the dtype, not of the device. As the ceiling it would end a
# campaign at half of the device's speed. Well-measured copies and products reach 75 % or more of
# their peaks.
LEAST_MEASURED = 0.6

_MICROSECONDS = 1e6


class Bound(StrEnum):
    """The ceiling that limits the kernel."""

    MEMORY = "memory"
    COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class Work:
    """The least work one call can do: operations, and bytes moved to and from memory."""

    flops: float
    bytes: float

    def __post_init__(self) -> None:
        if not self.flops >= 0:
            raise ValueError(f"flops: {self.flops!r}; accepted: zero or more operations")
        if not self.bytes > 0:
            raise ValueError(f"bytes: {self.bytes!r}; accepted: more than zero bytes")

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes


@dataclass(frozen=True, slots=True)
class Placement:
    """One case under its two ceilings.

    intensity, ridge: operations per byte. floor_us: the time that the chosen ceilings allow.
    target_us: floor_us / fraction. attainable_flops_per_s: the roof at this intensity.
    """

    work: Work
    bandwidth: Cited
    compute: Cited
    fraction: float
    intensity: float
    ridge: float
    bound: Bound
    floor_us: float
    target_us: float
    attainable_flops_per_s: float

    @property
    def attainable_bytes_per_s(self) -> float:
        """The best data rate: the bandwidth, or less if compute is the limit."""
        fed = self.compute.value / self.intensity if self.intensity else self.bandwidth.value
        return min(self.bandwidth.value, fed)

    @property
    def formula(self) -> str:
        """The target's arithmetic in words, as a page prints it beside the two citations."""
        if self.bound is Bound.MEMORY:
            need, ceiling = amount(self.work.bytes, "B"), self.bandwidth.display
        else:
            need, ceiling = amount(self.work.flops, "op"), self.compute.display
        done = f"{need} ÷ {ceiling} = {duration(self.floor_us)}"
        return f"{done}; ÷ {share(self.fraction)} = {duration(self.target_us)}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A placement without one of its specs: it blocks the target, not the page."""

    work: Work
    missing: tuple[str, ...]
    text: str = UNKNOWN
    target_us: None = None
    floor_us: None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """The time that no correct candidate can beat, with the arithmetic that says so."""

    floor_us: float
    limit: Cited
    slack: float
    arithmetic: str


def choose_ceiling(ceilings: Iterable[Cited]) -> Cited | None:
    """Prefer the first measured ceiling, then the first documented, then any other.

    A measured value above the documented peak is a measuring fault, and one far below it is a limit
    of the method (`LEAST_MEASURED`), so the peak is used instead.
    """
    found = list(ceilings)
    measured, documented = _first(found)
    if measured and documented:
        fits = LEAST_MEASURED * documented.value <= measured.value <= documented.value
        return measured if fits else documented
    return measured or documented or (found[0] if found else None)


def below_peak(ceilings: Iterable[Cited]) -> tuple[Cited, Cited] | None:
    """The measured ceiling and the documented peak if the first is too low to be chosen."""
    measured, documented = _first(list(ceilings))
    if measured and documented and measured.value < LEAST_MEASURED * documented.value:
        return measured, documented
    return None


def _first(ceilings: Sequence[Cited]) -> tuple[Cited | None, Cited | None]:
    """The first measured and the first documented one."""
    measured = next((c for c in ceilings if c.evidence == EvidenceClass.MEASURED), None)
    return measured, next((c for c in ceilings if c.evidence == EvidenceClass.DOCUMENTED), None)


def place(
    work: Work, bandwidth: Cited | None, compute: Cited | None, fraction: float = TARGET_FRACTION
) -> Placement | Unknown:
    """Place one case under a bandwidth (B/s) and a compute (op/s) ceiling.

    Raises ValueError for a fraction outside (0, 1] or a ceiling in another unit.
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction: {fraction!r}; accepted: above 0, at most 1")
    if bandwidth is None or compute is None:
        missing = {"bandwidth": bandwidth, "compute": compute}
        return Unknown(work, tuple(name for name, cited in missing.items() if cited is None))
    bytes_per_s, flops_per_s = _rate(bandwidth, "B/s"), _rate(compute, "op/s")
    floor_s = max(work.bytes / bytes_per_s, work.flops / flops_per_s)
    ridge = flops_per_s / bytes_per_s
    return Placement(
        work=work,
        bandwidth=bandwidth,
        compute=compute,
        fraction=fraction,
        intensity=work.intensity,
        ridge=ridge,
        bound=Bound.MEMORY if work.intensity < ridge else Bound.COMPUTE,
        floor_us=floor_s * _MICROSECONDS,
        target_us=floor_s * _MICROSECONDS / fraction,
        attainable_flops_per_s=min(work.intensity * bytes_per_s, flops_per_s),
    )


def measured_slack(busy_share: float) -> float:
    """How far the device may exceed a measured ceiling, as a fraction.

    busy_share: share of the host's CPU time that others used during the measurement. It is added
    back, so that a ceiling from a busy host rules out no honest kernel. More than BUSIEST counts as
    BUSIEST.
    """
    return (1 + MEASURED_SLACK) / (1 - min(max(busy_share, 0.0), BUSIEST)) - 1


def physical_floor(
    work: Work,
    bandwidths: Sequence[Cited],
    computes: Sequence[Cited],
    slack: float = MEASURED_SLACK,
) -> Floor | None:
    """Find the least possible time of one call (law 6); None when no ceiling is known at all.

    Each limit is the higher of the documented and the measured value. A measured one counts with
    `slack`. One known ceiling is enough, because each alone is a limit. The kernel's split of the
    work is ignored: another split may have no idle units, so a correct kernel may beat a bound on
    waves (`tiles`), but never this one.
    """
    floors = []
    for need, ceilings, unit in ((work.bytes, bandwidths, "B/s"), (work.flops, computes, "op/s")):
        peak = _peak(ceilings)
        if peak is not None:
            floors.append(_floor(need, peak, unit, slack))
    return max(floors, key=lambda floor: floor.floor_us, default=None)


def share_of_floor(times: Iterable[tuple[float, float]]) -> float:
    """Combine cases: geometric mean of floor_us / time_us over (floor_us, time_us) pairs."""
    return geomean(floor_us / time_us for floor_us, time_us in times)


def _peak(ceilings: Sequence[Cited]) -> Cited | None:
    """The highest; among equals the documented one, which needs no slack."""
    return max(
        ceilings, key=lambda c: (c.value, c.evidence == EvidenceClass.DOCUMENTED), default=None
    )


def _floor(need: float, peak: Cited, unit: str, measured: float) -> Floor:
    other = 0.0 if peak.evidence == EvidenceClass.DOCUMENTED else MEASURED_SLACK
    slack = measured if peak.evidence == EvidenceClass.MEASURED else other
    floor_us = need / (_rate(peak, unit) * (1 + slack)) * _MICROSECONDS
    allowance = f" + {share(slack)} slack ({peak.evidence})" if slack else ""
    arithmetic = f"{amount(need, unit.removesuffix('/s'))} ÷ ({peak.display}{allowance})"
    if not slack:
        arithmetic = arithmetic.replace("(", "").replace(")", "")
    return Floor(floor_us, peak, slack, f"{arithmetic} = {digits(floor_us)} µs")


def _rate(cited: Cited, unit: str) -> float:
    if cited.unit != unit or not cited.value > 0:
        found = f"{cited.value!r} {cited.unit}"
        raise ValueError(f"{cited.metric}: {found}; accepted: more than zero {unit}")
    return cited.value


class MemoryLevel(StrEnum):
    """The source of the bytes. For caches: the best rate over arrays that fit in them."""

    DRAM = "dram"
    CACHE = "cache"


@dataclass(frozen=True, slots=True)
class Ridge:
    """One dtype and one memory level, with the two ceilings behind the ridge; None is unknown.

    text: the ridge with its arithmetic, or UNKNOWN; old rows have nothing but that.
    """

    dtype: str
    level: str
    text: str
    flops_per_byte: float | None = None
    bandwidth: Cited | None = None
    compute: Cited | None = None

    @property
    def is_known(self) -> bool:
        return self.bandwidth is not None and self.compute is not None


def ridges(
    computes: Mapping[str, Iterable[Cited]], bandwidths: Mapping[MemoryLevel, Iterable[Cited]]
) -> tuple[Ridge, ...]:
    """Every dtype with every level; missing ones stay in the list as UNKNOWN."""
    found = {level: choose_ceiling(ceilings) for level, ceilings in bandwidths.items()}
    return tuple(
        _ridge(dtype, level, bandwidth, choose_ceiling(ceilings))
        for dtype, ceilings in ((name, tuple(items)) for name, items in computes.items())
        for level, bandwidth in found.items()
    )


def _ridge(dtype: str, level: str, bandwidth: Cited | None, compute: Cited | None) -> Ridge:
    if bandwidth is None or compute is None:
        return Ridge(dtype, level, UNKNOWN, None, bandwidth, compute)
    ridge = compute.value / bandwidth.value
    text = f"{compute.display} ÷ {bandwidth.display} = {digits(ridge)} op/B"
    return Ridge(dtype, level, text, ridge, bandwidth, compute)
