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
    """One case under its two ceilings. fraction: the share of their speed that is wanted."""

    work: Work
    bandwidth: Cited
    compute: Cited
    fraction: float

    @property
    def ridge(self) -> float:
        """Operations per byte from which on compute is the limit."""
        return self.compute.value / self.bandwidth.value

    @property
    def bound(self) -> Bound:
        return Bound.MEMORY if self.work.intensity < self.ridge else Bound.COMPUTE

    @property
    def floor_us(self) -> float:
        """The time that the ceilings allow."""
        memory_s = self.work.bytes / self.bandwidth.value
        return max(memory_s, self.work.flops / self.compute.value) * _MICROSECONDS

    @property
    def target_us(self) -> float:
        return self.floor_us / self.fraction

    @property
    def attainable_flops_per_s(self) -> float:
        """The roof at this intensity."""
        return min(self.work.intensity * self.bandwidth.value, self.compute.value)

    @property
    def formula(self) -> str:
        """The target's arithmetic in words, as a page prints it beside the two citations."""
        if self.bound is Bound.MEMORY:
            need, ceiling = amount(self.work.bytes, "B"), self.bandwidth.display
        else:
            need, ceiling = amount(self.work.flops, "op"), self.compute.told
        done = f"{need} ÷ {ceiling} = {duration(self.floor_us)}"
        return f"{done}; ÷ {share(self.fraction)} = {duration(self.target_us)}"


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
) -> Placement | None:
    """Place one case under a bandwidth (B/s) and a compute (op/s) ceiling; None without both.

    Raises ValueError for a fraction outside (0, 1] or a ceiling in another unit.
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction: {fraction!r}; accepted: above 0, at most 1")
    if bandwidth is None or compute is None:
        return None
    _rate(bandwidth, "B/s")
    _rate(compute, "op/s")
    return Placement(work, bandwidth, compute, fraction)


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
    needs = ((work.bytes, bandwidths, "B/s"), (work.flops, computes, "op/s"))
    floors = [limit_floor(*need, slack) for need in needs if need[1]]
    return max(floors, key=lambda floor: floor.floor_us, default=None)


def limit_floor(need: float, ceilings: Sequence[Cited], unit: str, slack: float) -> Floor:
    """The least time for `need` bytes or operations under the highest of these ceilings.

    unit: of the ceilings. A documented ceiling gets no slack, a measured one `slack`.
    """
    # Among equals the documented one, which needs no slack.
    documented = EvidenceClass.DOCUMENTED
    peak = max(ceilings, key=lambda c: (c.value, c.evidence == documented))
    other = 0.0 if peak.evidence == documented else MEASURED_SLACK
    allowed = slack if peak.evidence == EvidenceClass.MEASURED else other
    floor_us = need / (_rate(peak, unit) * (1 + allowed)) * _MICROSECONDS
    limit = peak.told
    if allowed:
        limit = f"({limit} + {share(allowed)} slack ({peak.evidence}))"
    arithmetic = f"{amount(need, unit.removesuffix('/s'))} ÷ {limit} = {digits(floor_us)} µs"
    return Floor(floor_us, peak, allowed, arithmetic)


def share_of_floor(times: Iterable[tuple[float, float]]) -> float:
    """Combine cases: geometric mean of floor_us / time_us over (floor_us, time_us) pairs."""
    return geomean(floor_us / time_us for floor_us, time_us in times)


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
    levels = {level: choose_ceiling(ceilings) for level, ceilings in bandwidths.items()}
    found = []
    for dtype, ceilings in computes.items():
        compute = choose_ceiling(ceilings)
        for level, bandwidth in levels.items():
            text, ridge = UNKNOWN, None
            if bandwidth is not None and compute is not None:
                ridge = compute.value / bandwidth.value
                text = f"{compute.told} ÷ {bandwidth.display} = {digits(ridge)} op/B"
            found.append(Ridge(dtype, level, text, ridge, bandwidth, compute))
    return tuple(found)
