"""Every pattern: values that it holds for, and the change after which it says nothing."""

from __future__ import annotations

import pytest

from campaigns.profiles.findings import PATTERNS, Confidence, findings, patterns_of
from campaigns.profiles.kernel_profile import KernelProfile, Vendor
from campaigns.profiles.metrics import DEFAULT_COUNTERS, METRICS, REGISTRIES, metric_of
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.rules_stalls import AGAINST
from knowledge.exchange.importer import SHIPPED
from knowledge.exchange.readers.files import read_folder
from knowledge.experience.catalogue.read import read_catalogue

PRODUCT, MOVES = {"multiplies": True}, {"least_bytes": 100}
WAITING = {"issue_pct": 10, "stalled_pct": 90}
FULL = {"limit_registers": 8, "limit_shared": 8, "limit_warps": 8, "limit_blocks": 8}


def limited(what: str, most: float = 40.0) -> dict[str, float]:
    return {**FULL, f"limit_{what}": 2, "occupancy_most_pct": most}


# Pattern: where it holds, what is changed for it to say nothing, and what the caller knows.
CASES = {
    "uncoalesced_loads": ({"load_sectors": 32, "load_requests": 1}, {"load_sectors": 17}, {}),
    "uncoalesced_stores": ({"store_sectors": 32, "store_requests": 1}, {"store_sectors": 17}, {}),
    "narrow_loads": (
        {"load_sectors": 4, "load_requests": 1, "stall_lg_throttle": 4, "stall_wait": 1},
        {"stall_wait": 20},
        {},
    ),
    "spills": ({"spills": 50, "local_loads": 9}, {"spills": 0}, {}),
    "local_arrays": (
        {"spills": 0, "local_loads": 9, "load_requests": 9},
        {"spills": 9},
        {},
    ),
    "scratch": ({"scratch_bytes": 64}, {"scratch_bytes": 0}, {}),
    "bank_conflicts": (
        {"shared_conflicts": 5, "shared_passes": 10},
        {"shared_conflicts": 2, "conflict_pct": 10},
        {},
    ),
    "contended_atomics": (
        {"sm_pct": 1, "memory_pct": 2, "atomics": 9, "load_requests": 9},
        {"memory_pct": 20},
        {},
    ),
    "l2_thrash": (
        {"l2_hit_pct": 20, "dram_read_bytes": 200, "dram_write_bytes": 0},
        {"l2_hit_pct": 60},
        MOVES,
    ),
    "over_fetch": (
        {"dram_read_bytes": 80, "dram_write_bytes": 50},
        {"dram_read_bytes": 60},
        MOVES,
    ),
    "small_reads": ({"reads": 10, "reads_32b": 5}, {"reads_32b": 0}, {}),
    "memory_unit_stalled": ({"memory_stalled_pct": 30}, {"memory_stalled_pct": 5}, {}),
    "write_unit_stalled": ({"write_stalled_pct": 30}, {"write_stalled_pct": 5}, {}),
    "shared_memory_queue": ({"shared_stalled_pct": 30}, {"shared_stalled_pct": 5}, {}),
    "small_grid": ({"grid": 60, "sms": 132}, {"grid": 132}, {}),
    "few_waves": (
        {"grid": 200, "sms": 132, "waves": 0.5, "sm_pct": 20, "memory_pct": 30},
        {"memory_pct": 70},
        {},
    ),
    "tail_wave": (
        {"waves": 1.1, "busy_cycles": 5, "busiest_cycles": 10},
        {"busy_cycles": 9.5},
        {},
    ),
    "partial_wave": ({"waves": 1.1}, {"waves": 1.9}, {}),
    "occupancy_by_registers": (limited("registers"), {"occupancy_most_pct": 60}, {}),
    "occupancy_by_shared": (limited("shared"), {"limit_shared": 9}, {}),
    "occupancy_by_warps": (limited("warps", 70), {"occupancy_most_pct": 90}, {}),
    "occupancy_by_blocks": (limited("blocks"), {"limit_blocks": 32}, {}),
    "occupancy_gap": (
        {"occupancy_pct": 30, "occupancy_most_pct": 100, "waves": 8},
        {"occupancy_pct": 60},
        {},
    ),
    "partial_warps": ({"block": 80}, {"block": 128}, {}),
    "divergence": ({"threads": 12}, {"threads": 24}, {}),
    "wave_divergence": ({"threads_pct": 40}, {"threads_pct": 75}, {}),
    "predicated_off": ({"threads": 32, "threads_on": 12}, {"threads": 12}, {}),
    "divergent_branches": ({"uniform_pct": 60, "threads": 30}, {"threads": 32}, {}),
    "special_functions": ({"special_pct": 60}, {"special_pct": 59}, {}),
    "double_precision": ({"fp64_pct": 5}, {"fp64_pct": 0}, {}),
    "unfused": ({"fadd": 3, "fmul": 3, "ffma": 4}, {"fmul": 0}, {}),
    "tensor_idle": (
        {"tensor_pct": 0, "fma_pct": 80, "valu_pct": 80},
        {"tensor_pct": 30},
        PRODUCT,
    ),
    "tensor_waits": ({"tensor_pct": 10}, {"tensor_pct": 60}, PRODUCT),
    "enough_warps": (
        {"stall_not_selected": 5, "stall_wait": 5, "occupancy_pct": 90},
        {"stall_wait": 50},
        {},
    ),
    **{
        name: ({**WAITING, name: 4, "stall_misc": 1}, {name: 0, "stall_misc": 9}, {})
        for name in AGAINST
    },
}
BOTH = [(one.name, vendor) for one in PATTERNS for vendor in one.helps]


class Noted(dict[str, float]):
    """Values that note which of them was asked for."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.asked.add(name)
        return super().__contains__(name)


def found(values, vendor, work):
    known = Noted({name: value for name, value in values.items() if name in REGISTRIES[vendor]})
    return {
        one.name: one
        for one in findings(KernelProfile("k", known, vendor=vendor), KernelWork(**work))
    }, known


def test_r26_each_vendor_has_its_patterns_and_each_has_a_case():
    assert {*CASES} == {one.name for one in PATTERNS}
    assert len(CASES) == len(PATTERNS)
    counted = {vendor: len(patterns_of(vendor)) for vendor in Vendor}
    assert counted == {Vendor.NVIDIA: 41, Vendor.AMD: 26, Vendor.CPU: 0}


@pytest.mark.parametrize(("name", "vendor"), BOTH)
def test_r26_it_holds_shows_its_numbers_and_says_nothing_without_them(name, vendor):
    values, change, work = CASES[name]
    there = found(values, vendor, work)[0][name]
    assert there.evidence
    assert {*there.evidence} <= {*values}
    assert there.share is None or 0 < there.share <= 1
    assert name not in found({**values, **change}, vendor, work)[0]
    assert found({}, vendor, work)[0] == {}


@pytest.mark.parametrize(("name", "vendor"), BOTH)
def test_r24_every_metric_that_a_rule_reads_is_known_and_asked_for(name, vendor):
    values, _, work = CASES[name]
    asked = found(values, vendor, work)[1].asked
    assert asked <= {metric for known in REGISTRIES.values() for metric in known}
    for metric in asked & {*METRICS}:
        assert metric_of(metric).counter in DEFAULT_COUNTERS


def test_each_strategy_is_in_the_catalogue_and_for_the_vendor():
    known = read_catalogue(read_folder(SHIPPED)).strategies
    for one in PATTERNS:
        for vendor, ids in one.helps.items():
            assert {*ids} <= {*known}, one.name
            for each in ids:
                assert known[each].kind == "technique"
                assert known[each].vendors in ((), (vendor.value,)), (one.name, each)


@pytest.mark.parametrize(
    ("values", "work", "name", "share"),
    [
        ({"grid": 33, "sms": 132}, {}, "small_grid", 0.75),
        ({"dram_read_bytes": 150, "dram_write_bytes": 50}, MOVES, "over_fetch", 0.5),
        ({"block": 48}, {}, "partial_warps", 0.25),
        ({"threads": 8}, {}, "divergence", 0.75),
        ({"stall_barrier": 1, "issue_pct": 40}, {}, "stall_barrier", 0.6),
        ({"stall_wait": 1, "issue_pct": 40}, {}, "stall_wait", None),
        ({"l2_hit_pct": 20, "dram_pct": 90}, PRODUCT, "l2_thrash", None),
    ],
)
def test_its_share_is_what_its_own_counters_bound(values, work, name, share):
    assert found(values, Vendor.NVIDIA, work)[0][name].share == pytest.approx(share)


@pytest.mark.parametrize("name", ["l2_thrash", "over_fetch", "tensor_idle", "tensor_waits"])
def test_what_only_the_caller_knows_is_not_guessed(name):
    values, _, _ = CASES[name]
    assert name not in found({**values, "dram_pct": 90}, Vendor.NVIDIA, {})[0]


@pytest.mark.parametrize("least", [0, -1.0, float("nan"), float("inf")])
def test_least_bytes_are_bytes(least):
    with pytest.raises(ValueError, match="a number from 1 is accepted"):
        KernelWork(least_bytes=least)


def test_sure_findings_come_first_then_the_largest_share():
    values = {"block": 48, "grid": 33, "sms": 132, "fp64_pct": 50, "uniform_pct": 10, "threads": 30}
    names = [one.name for one in findings(KernelProfile("k", values))]
    assert names == ["small_grid", "partial_warps", "double_precision", "divergent_branches"]
    assert findings(KernelProfile("k", values))[0].confidence is Confidence.SURE
