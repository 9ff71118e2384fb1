"""Counters of both vendors: their names are documented, and a name means the same on both."""

from __future__ import annotations

import pytest

from campaigns.profiles import amd
from campaigns.profiles.kernel_profile import Metric, Unit, Vendor
from campaigns.profiles.metrics import DEFAULT_COUNTERS, METRICS, REGISTRIES, metric_of
from knowledge.exchange.importer import SHIPPED
from tests.campaigns.profiles import RECORDED
from tests.campaigns.profiles.test_occupancy import MI300X

NVIDIA, AMD = Vendor.NVIDIA, Vendor.AMD


@pytest.mark.parametrize("vendor", Vendor)
def test_r24_every_counter_has_its_source_its_meaning_and_both_bounds_or_none(vendor):
    for name, one in REGISTRIES[vendor].items():
        assert name == one.name
        assert one.meaning
        assert one.source
        assert (one.good is None) == (one.bad is None)
        assert one.good is None or one.good != one.bad


def test_r24_a_name_that_both_have_is_in_the_same_unit():
    shared = REGISTRIES[NVIDIA].keys() & REGISTRIES[AMD].keys()
    assert {"duration_us", "occupancy_pct", "l2_hit_pct", "dram_read_bytes", "sm_pct"} <= shared
    for name in shared:
        assert metric_of(name, NVIDIA).unit is metric_of(name, AMD).unit, name


def test_r24_every_counter_of_ncu_is_one_that_it_printed_or_documents():
    wiki = "".join(path.read_text() for path in (SHIPPED / "docs/profiling").glob("ncu*.md"))
    told = RECORDED.read_text() + wiki
    assert [each for each in DEFAULT_COUNTERS if each not in told] == []
    assert len(DEFAULT_COUNTERS) == len({*DEFAULT_COUNTERS}) == len(METRICS)


@pytest.mark.parametrize(
    ("name", "vendor", "words"),
    [
        ("fma_pct", AMD, "metric 'fma_pct': not counted on AMD; NVIDIA has it"),
        ("scratch_bytes", NVIDIA, "metric 'scratch_bytes': not counted on NVIDIA; AMD has it"),
        ("mood", AMD, "metric 'mood': not counted on AMD"),
    ],
)
def test_r24_what_a_vendor_does_not_count_is_said_and_not_made_up(name, vendor, words):
    with pytest.raises(KeyError) as refused:
        metric_of(name, vendor)
    assert str(refused.value) == words


def test_which_way_is_worse_follows_from_the_bounds():
    stalled = Metric("a", "A", Unit.PERCENT, "of it", 0, 20)
    reached = Metric("b", "B", Unit.PERCENT, "of it", 80, 60)
    assert [stalled.is_bad(each) for each in (19, 20)] == [False, True]
    assert [reached.is_bad(each) for each in (59, 60)] == [True, False]
    assert not Metric("c", "C", Unit.PERCENT, "of it").is_bad(0)


@pytest.mark.parametrize(
    ("counted", "name", "value"),
    [
        ({"l2_hits": 30, "l2_misses": 10}, "l2_hit_pct", 75.0),
        ({"reads": 10, "reads_32b": 2, "reads_128b": 3}, "dram_read_bytes", 5 * 64 + 64 + 3 * 128),
        ({"writes": 10, "writes_64b": 4}, "dram_write_bytes", 4 * 64 + 6 * 32),
        ({"valu_pct": 20, "tensor_pct": 55}, "sm_pct", 55),
        ({"l2_hits": 30, "l2_misses": 10, "l2_hit_pct": 70}, "l2_hit_pct", 70),
        ({"l2_hits": 0, "l2_misses": 0}, "l2_hit_pct", None),
        ({"valu_pct": 20}, "sm_pct", None),
    ],
)
def test_r30_what_follows_from_counters_follows_by_formula(counted, name, value):
    assert amd.completed(counted).get(name) == value


@pytest.mark.parametrize(
    ("registers", "sums", "shared", "block", "fit", "most"),
    [
        # The example of the occupancy guide: 280 registers leave one wave a SIMD.
        (144, 136, 0, 256, 1, 12.5),
        (128, 128, 0, 256, 2, 25.0),
        (32, 0, 0, 1024, 2, 100.0),
        (32, 0, 32768, 256, 2, 25.0),
        (32, 0, 0, 704, 2, 68.75),
    ],
)
def test_what_fits_a_compute_unit_follows_from_its_card(registers, sums, shared, block, fit, most):
    card = amd.Card(304, 5.3e12, MI300X)
    counted = {
        "registers": registers,
        "sum_registers": sums,
        "shared_bytes": shared,
        "block": block,
        "grid": 608,
    }
    found = amd.completed(counted, card)
    limits = [value for name, value in found.items() if name.startswith("limit_")]
    assert (min(limits), found["occupancy_most_pct"], found["waves"]) == (fit, most, 2 / fit)
    assert "waves" not in amd.completed(counted)
