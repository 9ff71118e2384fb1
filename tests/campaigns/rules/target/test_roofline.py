""""""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.rules.target.roofline import (
    Bound,
    MemoryLevel,
    Placement,
    Work,
    below_peak,
    choose_ceiling,
    measured_slack,
    physical_floor,
    place,
    ridges,
    share_of_floor,
)
from knowledge.specs.cited import EvidenceClass
from tests.campaigns.rules.builders import ceiling

# Requirements §7, fixture of R4: one H100 tile in bf16.
TILE = Work(flops=134_217_728, bytes=1_212_416)
BANDWIDTH = ceiling(3.35e12)
PEAK = ceiling(989.4e12, "op/s")


def placed(work: Work = TILE, fraction: float = 0.9) -> Placement:
    placement = place(work, BANDWIDTH, PEAK, fraction)
    assert isinstance(placement, Placement)
    return placement


def test_it_places_the_h100_tile_under_the_memory_roof():
    placement = placed()
    assert placement.work.intensity == pytest.approx(110.7, abs=0.05)
    assert placement.ridge == pytest.approx(295.3, abs=0.05)
    assert placement.bound is Bound.MEMORY


def test_it_gives_132_tiles_their_share_of_the_bandwidth():
    tiles = Work(132 * TILE.flops, 132 * TILE.bytes)
    assert tiles.bytes / 50e-6 == pytest.approx(3.20e12, rel=1e-3)
    assert share_of_floor([(placed(tiles).floor_us, 50.0)]) == pytest.approx(0.955, abs=5e-4)


@pytest.mark.parametrize("flops", [0.0, 1.0, TILE.flops, 1e12, 1e18])
def test_it_never_puts_the_roof_above_the_peak(flops):
    work = Work(flops, TILE.bytes)
    assert placed(work).attainable_flops_per_s <= PEAK.value
    assert flops / placed(work).floor_us * 1e6 <= PEAK.value * (1 + 1e-12)


def test_it_divides_the_floor_by_the_fraction_for_the_target():
    assert placed(fraction=0.8).target_us == pytest.approx(placed().floor_us / 0.8)
    assert placed().formula == "1.21 MB ÷ 3.35 TB/s = 0.362 µs; ÷ 90 % = 0.402 µs"


def test_it_says_that_a_target_and_a_floor_rest_on_bursts():
    burst = replace(ceiling(800e12, "op/s", EvidenceClass.MEASURED), load="burst")
    work = Work(flops=1e15, bytes=1e6)
    under = place(work, BANDWIDTH, burst)
    assert under is not None
    assert "÷ 800 Top/s (burst) =" in under.formula
    floor = physical_floor(work, [], [burst])
    assert floor is not None
    assert "(800 Top/s (burst) + 3 % slack (measured))" in floor.arithmetic


def test_it_is_compute_bound_at_the_ridge():
    assert placed(Work(295.35 * 1e6, 1e6)).bound is Bound.COMPUTE


def test_it_places_nothing_when_a_ceiling_is_missing():
    assert place(TILE, None, PEAK) is None
    assert place(TILE, BANDWIDTH, None) is None


def test_it_refuses_a_ceiling_in_the_wrong_unit():
    with pytest.raises(ValueError, match="accepted: more than zero B/s"):
        place(TILE, PEAK, PEAK)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01])
def test_it_refuses_a_fraction_outside_its_range(fraction):
    with pytest.raises(ValueError, match="fraction"):
        place(TILE, BANDWIDTH, PEAK, fraction)


@pytest.mark.parametrize(("flops", "size"), [(-1, 1), (1, 0), (float("nan"), 1)])
def test_it_refuses_impossible_work(flops, size):
    with pytest.raises(ValueError, match="accepted"):
        Work(flops, size)


def test_it_prefers_a_measured_ceiling():
    measured = ceiling(3.0e12, evidence=EvidenceClass.MEASURED)
    assert choose_ceiling([BANDWIDTH, measured]) is measured
    assert choose_ceiling([BANDWIDTH]) is BANDWIDTH
    assert choose_ceiling([]) is None


def test_it_does_not_believe_a_measurement_above_the_documented_peak():
    measured = ceiling(3.6e12, evidence=EvidenceClass.MEASURED)
    assert choose_ceiling([measured, BANDWIDTH]) is BANDWIDTH


@pytest.mark.parametrize("unit", ["B/s", "op/s"])
def test_it_takes_no_slow_method_for_the_limit_of_the_device(unit):
    peak = ceiling(2e15, unit)
    slow = ceiling(0.5999 * 2e15, unit, EvidenceClass.MEASURED)
    sound = ceiling(0.6 * 2e15, unit, EvidenceClass.MEASURED)
    assert choose_ceiling([slow, peak]) is peak
    assert below_peak([slow, peak]) == (slow, peak)
    assert choose_ceiling([sound, peak]) is sound
    assert below_peak([sound, peak]) is None
    assert choose_ceiling([slow]) is slow
    assert below_peak([slow]) is None


def test_it_builds_the_physical_floor_from_the_documented_peak():
    measured = ceiling(3.0e12, evidence=EvidenceClass.MEASURED)
    floor = physical_floor(TILE, [measured, BANDWIDTH], [PEAK])
    assert floor is not None
    assert floor.limit is BANDWIDTH
    assert floor.floor_us == pytest.approx(TILE.bytes / 3.35e12 * 1e6)
    assert floor.arithmetic == "1.21 MB ÷ 3.35 TB/s = 0.362 µs"


def test_it_gives_a_measured_floor_three_percent_of_slack_and_says_so():
    floor = physical_floor(TILE, [ceiling(3.0e12, evidence=EvidenceClass.MEASURED)], [])
    assert floor is not None
    assert floor.floor_us == pytest.approx(TILE.bytes / 3.0e12 / 1.03 * 1e6)
    assert "3 % slack (measured)" in floor.arithmetic


def test_law_6_calls_nothing_impossible_that_was_measured():
    measured = ceiling(3.6e12, evidence=EvidenceClass.MEASURED)
    floor = physical_floor(TILE, [measured, BANDWIDTH], [PEAK])
    assert floor is not None
    assert floor.limit is measured
    assert floor.floor_us < TILE.bytes / 3.6e12 * 1e6


def test_law_6_adds_back_what_others_took_of_a_busy_host():
    measured = ceiling(2.0e12, evidence=EvidenceClass.MEASURED)
    idle, busy = (
        physical_floor(TILE, [measured], [], measured_slack(share)) for share in (0.0, 0.5)
    )
    assert idle is not None
    assert busy is not None
    assert busy.floor_us == pytest.approx(idle.floor_us / 2)
    assert "106 % slack (measured)" in busy.arithmetic
    documented = physical_floor(TILE, [measured, BANDWIDTH], [], measured_slack(0.5))
    assert documented is not None
    assert (documented.limit, documented.slack) == (BANDWIDTH, 0.0)


def test_it_keeps_a_floor_however_busy_the_host_was():
    assert measured_slack(0.0) == pytest.approx(0.03)
    assert measured_slack(-0.2) == measured_slack(0.0)
    assert measured_slack(1.0) == measured_slack(0.9) == pytest.approx(9.3)


def test_it_has_no_floor_without_any_ceiling():
    assert physical_floor(TILE, [], []) is None


def test_it_combines_cases_by_the_geometric_mean():
    reached = share_of_floor([(1.0, 1.0), (1.0, 4.0)])
    assert reached == pytest.approx(0.5)


BF16 = ceiling(989.4e12, "op/s")
FP8 = ceiling(1978.8e12, "op/s")
DRAM = ceiling(3.35e12)


def test_r4_the_ridge_of_the_h100_fixture():
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.DRAM: [DRAM]})
    assert ridge.flops_per_byte == pytest.approx(295.3, abs=0.05)
    assert ridge.text == "989.4 Top/s ÷ 3.35 TB/s = 295 op/B"


def test_it_has_one_ridge_for_each_dtype_and_level():
    cache = ceiling(8e12, evidence=EvidenceClass.MEASURED)
    found = ridges(
        {"bfloat16": [BF16], "float8_e4m3fn": [FP8]},
        {MemoryLevel.DRAM: [DRAM], MemoryLevel.CACHE: [cache]},
    )
    assert {(r.dtype, r.level): r.flops_per_byte for r in found} == pytest.approx(
        {
            ("bfloat16", MemoryLevel.DRAM): 989.4 / 3.35,
            ("bfloat16", MemoryLevel.CACHE): 989.4 / 8,
            ("float8_e4m3fn", MemoryLevel.DRAM): 1978.8 / 3.35,
            ("float8_e4m3fn", MemoryLevel.CACHE): 1978.8 / 8,
        }
    )


def test_it_says_unknown_where_the_level_has_no_bandwidth():
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.CACHE: []})
    assert ridge.flops_per_byte is None
    assert ridge.text == "UNKNOWN (gpu-wiki not found)"


def test_it_prefers_the_measured_bandwidth():
    measured = ceiling(3.0e12, evidence=EvidenceClass.MEASURED)
    (ridge,) = ridges({"bfloat16": [BF16]}, {MemoryLevel.DRAM: [DRAM, measured]})
    assert ridge.bandwidth is measured
