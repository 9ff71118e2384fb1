"""A profile as a page shows it: bars, stalls, occupancy, memory, findings, beside another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from campaigns.models import Campaign
from campaigns.profiles.classify import stall_shares
from campaigns.profiles.findings import ProfileFinding
from campaigns.profiles.kernel_profile import HotLine, KernelProfile, Unit
from campaigns.profiles.metrics import REGISTRIES, metric_of, metric_words, waits_for
from campaigns.profiles.reading import MovedBytes, Profiled
from campaigns.records.campaigns import target_of
from campaigns.records.explained.profiles import moved_in
from campaigns.rules.wording import amount, digits, signed
from knowledge.specs.cited import Cited

# What each part of a card does of what it could.
BARS = (
    *("sm_pct", "memory_pct", "dram_pct", "l2_pct", "l1_pct", "tensor_pct", "fma_pct"),
    *("issue_pct", "occupancy_pct"),
)
OCCUPANCY = (
    *("occupancy_pct", "occupancy_most_pct", "registers", "shared_bytes", "block", "grid"),
    *("waves", "limit_registers", "limit_shared", "limit_warps", "limit_blocks"),
)
MEMORY = (
    *("dram_read_bytes", "dram_write_bytes", "l2_hit_pct", "l1_hit_pct", "load_requests"),
    *("load_sectors", "store_requests", "store_sectors", "shared_conflicts", "local_loads"),
)
FEWEST_PCT = 0.5
# Rarer stalls, and lines where warps wait less, say little; all counters have the first.
LEAST_SHARE = 0.02
MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class MetricRow:
    """value, other: in words with the unit. share: of a whole, for a bar; None has no whole.

    change: of the value, from the other's; "" where there is no other.
    """

    name: str
    meaning: str
    value: str
    share: float | None = None
    other: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """numbers: its evidence in words. record: what became of rounds that cited it; "" for none."""

    finding: ProfileFinding
    numbers: tuple[str, ...]
    record: str


@dataclass(frozen=True, slots=True)
class HotRow:
    """A line where warps wait. text: of the candidate's source; "" of another file's line.

    waits: what for, in words.
    """

    line: HotLine
    text: str
    waits: str


@dataclass(frozen=True, slots=True)
class ProfileSheet:
    """found: the profile. against: the other's, or None.

    bandwidth: what DRAM moved a second in the longest kernel; peak: the cited value beside it.
    moved: counted bytes of a call beside the problem's formula. lines: the hottest first.
    """

    found: Profiled
    against: Profiled | None
    findings: tuple[FindingRow, ...]
    bars: tuple[MetricRow, ...]
    stalls: tuple[MetricRow, ...]
    occupancy: tuple[MetricRow, ...]
    memory: tuple[MetricRow, ...]
    every: tuple[MetricRow, ...]
    bandwidth: float | None
    peak: Cited | None
    moved: MovedBytes | None
    lines: tuple[HotRow, ...]

    @property
    def of_peak(self) -> float | None:
        return self.bandwidth / self.peak.value if self.bandwidth and self.peak else None


def profile_sheet(
    found: Profiled,
    campaign: Campaign,
    against: Profiled | None = None,
    records: Mapping[str, str] | None = None,
    q: str = "",
    source: str = "",
) -> ProfileSheet:
    """against: of another round of the campaign, on whichever case it was counted. records: finding
    → what became of rounds that cited it. q: of all counters, those with it in name or meaning.
    source: of the candidate.
    """
    main, other = found.main, against.main if against else None
    named = REGISTRIES[main.vendor]
    known = [
        name
        for name, one in named.items()
        if name in main.values and q.lower() in f"{name} {one.meaning} {one.counter}".lower()
    ]
    return ProfileSheet(
        found,
        against,
        tuple(
            FindingRow(
                one,
                tuple(metric_words(key, value, main.vendor) for key, value in one.evidence.items()),
                (records or {}).get(one.name, ""),
            )
            for one in found.findings
        ),
        _rows(main, other, BARS),
        _stalls(main, other),
        _rows(main, other, OCCUPANCY),
        _rows(main, other, MEMORY),
        _rows(main, other, known),
        _bandwidth(main),
        target_of(campaign).bandwidth,
        moved_in(found, campaign),
        tuple(_hot_rows(main, source.splitlines())),
    )


def _hot_rows(main: KernelProfile, source: list[str]) -> Iterable[HotRow]:
    for one in main.lines[:MOST_LINES]:
        if one.share >= LEAST_SHARE:
            yield HotRow(one, one.text_in(source), waits_for(one.stall, main.vendor))


def _rows(
    main: KernelProfile, other: KernelProfile | None, names: Iterable[str]
) -> tuple[MetricRow, ...]:
    return tuple(_row(main, other, name) for name in names if name in main.values)


def _row(main: KernelProfile, other: KernelProfile | None, name: str) -> MetricRow:
    metric, value = metric_of(name, main.vendor), main.values[name]
    before = other.values.get(name) if other and other.vendor is main.vendor else None
    whole = 100.0 if metric.unit is Unit.PERCENT else None
    return MetricRow(
        name,
        metric.meaning,
        _worded(value, metric.unit),
        min(1.0, value / whole) if whole else None,
        _worded(before, metric.unit) if before is not None else "",
        _change(before, value, metric.unit) if before is not None else "",
    )


def _stalls(main: KernelProfile, other: KernelProfile | None) -> tuple[MetricRow, ...]:
    """Each stall as a share of all, the largest first; without those that hardly occur."""
    now, before = stall_shares(main.values), stall_shares(other.values) if other else {}
    rows = []
    for name, share in sorted(now.items(), key=lambda each: -each[1]):
        if share < LEAST_SHARE and before.get(name, 0.0) < LEAST_SHARE:
            continue
        was = before.get(name)
        meaning = metric_of(name, main.vendor).meaning
        change = "" if was is None else _change(100 * was, 100 * share, Unit.PERCENT)
        told = "" if was is None else f"{100 * was:.0f} %"
        rows.append(MetricRow(name, meaning, f"{100 * share:.0f} %", share, told, change))
    return tuple(rows)


def _worded(value: float, unit: Unit) -> str:
    if unit is Unit.PERCENT:
        return f"{value:.3g} %"
    if unit is Unit.BYTES:
        return amount(value, "B")
    number = f"{value:,.0f}" if value == int(value) else digits(value)
    return f"{number}{f' {unit}' if unit else ''}"


def _change(before: float, value: float, unit: Unit) -> str:
    """Points of a share, else a share of what it was."""
    if unit is Unit.PERCENT:
        points = value - before
        return "same" if abs(points) < FEWEST_PCT else f"{signed(points, 2)} points"
    if before == value:
        return "same"
    if before == 0:
        return "new"
    return f"{signed(100 * (value / before - 1), 2)} %"


def _bandwidth(main: KernelProfile) -> float | None:
    """Bytes a second of DRAM in the longest kernel."""
    moved, time_us = main.dram_bytes, main.values.get("duration_us")
    return moved / time_us * 1e6 if moved is not None and time_us else None
