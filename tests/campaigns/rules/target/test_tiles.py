import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.target.roofline import (
    Bound,
    Unknown,
    Work,
    physical_floor,
    place,
    share_of_floor,
)
from campaigns.rules.target.tiles import Tiling, TimeBound, Waves, matmul_tile, time_bound
from tests.campaigns.rules.builders import ceiling

# Requirements §7, fixture of R4: one H100 tile in bf16, and 132 SMs.
TILE = Work(flops=134_217_728, bytes=1_212_416)
BANDWIDTH = ceiling(3.35e12)
PEAK = ceiling(989.4e12, "op/s")
SMS = 132


def bound(tiling: Tiling) -> TimeBound:
    found = time_bound(tiling, BANDWIDTH, PEAK)
    assert isinstance(found, TimeBound)
    return found


def test_r4_the_h100_fixture_at_tile_level():
    found = bound(Tiling(TILE, Waves(SMS, SMS)))
    assert found.placement.intensity == pytest.approx(110.7, abs=0.05)
    assert found.placement.ridge == pytest.approx(295.3, abs=0.05)
    assert found.placement.bound is Bound.MEMORY
    assert found.tiling.work.bytes / 50e-6 == pytest.approx(3.20e12, rel=1e-3)
    assert share_of_floor([(found.time_us, 50.0)]) == pytest.approx(0.955, abs=5e-4)
    assert found.flops_per_s <= 989.4e12
    assert found.bytes_per_s == 3.35e12


@pytest.mark.parametrize(
    ("blocks", "per_unit", "waves", "factor"),
    [
        (132, 1, 1.0, 1.0),
        (133, 1, 133 / 132, 264 / 133),
        (1, 1, 1 / 132, 132.0),
        (264, 1, 2.0, 1.0),
        (264, 2, 1.0, 1.0),
        (512, 2, 512 / 264, 528 / 512),
        # One block on each unit leaves none idle, however many would fit.
        (132, 2, 0.5, 1.0),
        # The last block has a unit alone and its whole rate: three turns, not four.
        (265, 2, 265 / 264, 396 / 265),
        (265, None, None, 396 / 265),
    ],
)
def test_r4_it_counts_blocks_of_the_busiest_unit(blocks, per_unit, waves, factor):
    split = Waves(blocks, SMS, per_unit)
    assert split.waves == waves
    assert split.quantisation == pytest.approx(factor)
    assert split.quantisation == pytest.approx(math.ceil(blocks / SMS) / (blocks / SMS))


def test_it_gives_a_tile_the_share_of_one_unit():
    one = bound(Tiling(TILE, Waves(1, SMS)))
    assert one.time_us == pytest.approx(TILE.bytes / (3.35e12 / SMS) * 1e6)


def test_it_has_more_intensity_in_the_kernel_than_in_tiles_that_read_again():
    tiling = Tiling(TILE, Waves(SMS, SMS))
    least = Work(tiling.work.flops, tiling.work.bytes / 8)
    assert least.intensity == pytest.approx(8 * tiling.tile.intensity)
    assert tiling.work.intensity == pytest.approx(tiling.tile.intensity)


def test_it_says_the_split_in_words():
    assert Waves(512, 132, 2).words("SM") == (
        "512 blocks on 132 SMs × 2 = 1.94 waves, 2 full: ×1.03 (4 on the busiest SM, 3.88 if even)"
    )
    one = Waves(1, 1).words("core")
    assert one == "1 block on 1 core: ×1.00 (1 on the busiest core, 1.00 if even)"


def test_r4_it_counts_the_work_of_one_tile_of_a_product():
    tile = matmul_tile(128, 128, 4096, 2)
    assert (tile.flops, tile.bytes) == (2 * 128 * 128 * 4096, 2 * (256 * 4096 + 128 * 128))
    assert tile.intensity == pytest.approx(63.0, abs=0.1)


def test_it_names_the_ceilings_that_are_missing():
    found = time_bound(Tiling(TILE, Waves(1, 1)), None, PEAK)
    assert isinstance(found, Unknown)
    assert found.missing == ("bandwidth",)


@pytest.mark.parametrize("field", ["blocks", "units", "blocks_per_unit"])
def test_it_refuses_a_tiling_of_nothing(field):
    with pytest.raises(ValueError, match=f"{field}: 0; accepted: 1 or more"):
        Waves(**({"blocks": 1, "units": 1} | {field: 0}))


rates = st.floats(1e6, 1e18)
counts = st.integers(1, 10**6)
works = st.builds(Work, st.floats(0, 1e18), st.floats(1, 1e15))


@given(works, counts, counts, st.integers(1, 64), rates, rates)
def test_r4_no_bound_lets_more_through_than_the_peaks(
    tile, blocks, units, per_unit, bytes_per_s, flops_per_s
):
    ceilings = ceiling(bytes_per_s), ceiling(flops_per_s, "op/s")
    found = time_bound(Tiling(tile, Waves(blocks, units, per_unit)), *ceilings)
    assert isinstance(found, TimeBound)
    assert found.flops_per_s <= flops_per_s
    assert found.bytes_per_s <= bytes_per_s
    seconds = found.time_us / 1e6
    assert found.tiling.work.flops / seconds <= flops_per_s * (1 + 1e-12)
    assert found.tiling.work.bytes / seconds <= bytes_per_s * (1 + 1e-12)
    assert found.tiling.work.flops / seconds == pytest.approx(found.flops_per_s, rel=1e-9)


@given(works, counts, counts, rates, rates)
def test_law_6_waves_are_no_part_of_the_physical_floor(
    tile, blocks, units, bytes_per_s, flops_per_s
):
    tiling = Tiling(tile, Waves(blocks, units))
    bandwidth, compute = ceiling(bytes_per_s), ceiling(flops_per_s, "op/s")
    found = time_bound(tiling, bandwidth, compute)
    floor = physical_floor(tiling.work, [bandwidth], [compute])
    evenly = place(tiling.work, bandwidth, compute)
    assert isinstance(found, TimeBound)
    assert floor is not None
    assert floor.floor_us == pytest.approx(evenly.floor_us)
    assert floor.floor_us <= found.time_us * (1 + 1e-12)
