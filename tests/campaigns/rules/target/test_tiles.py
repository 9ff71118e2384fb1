import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.target.roofline import Work, physical_floor, place
from campaigns.rules.target.tiles import Waves, matmul_tile
from tests.campaigns.rules.builders import ceiling

SMS = 132


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


@pytest.mark.parametrize("field", ["blocks", "units", "blocks_per_unit"])
def test_it_refuses_a_tiling_of_nothing(field):
    with pytest.raises(ValueError, match=f"{field}: 0; accepted: 1 or more"):
        Waves(**({"blocks": 1, "units": 1} | {field: 0}))


rates = st.floats(1e6, 1e18)
works = st.builds(Work, st.floats(0, 1e18), st.floats(1, 1e15))


@given(works, rates, rates)
def test_law_6_the_physical_floor_is_that_of_an_even_spread(work, bytes_per_s, flops_per_s):
    bandwidth, compute = ceiling(bytes_per_s), ceiling(flops_per_s, "op/s")
    floor = physical_floor(work, [bandwidth], [compute])
    evenly = place(work, bandwidth, compute)
    assert floor is not None
    assert evenly is not None
    assert floor.floor_us == pytest.approx(evenly.floor_us)
    assert evenly.attainable_flops_per_s <= flops_per_s
