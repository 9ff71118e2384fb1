"""A time beside the peaks: shares, ridge, side, floor and waves, and never above a peak (R4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.target.ceilings import Ceilings
from campaigns.rules.target.tiles import Waves
from campaigns.rules.target.utilisation import AbovePeakError, peak_of, utilisation_under
from knowledge.specs.cited import UNKNOWN
from tests.campaigns.rules.builders import ceiling

PEAK, COPY = ceiling(4e12), ceiling(3e12, evidence="measured", metric="copy_bandwidth")
COMPUTE = ceiling(1e15, "op/s")
CEILINGS = Ceilings((COPY, PEAK), (COMPUTE,), {})


def place(time_us, ceilings=CEILINGS, waves=None, slack=0.03, **needs):
    return utilisation_under(time_us, needs, ceilings, dtype="bfloat16", slack=slack, waves=waves)


def test_r4_it_gives_shares_ridge_side_and_floor():
    found = place(50, bandwidth=1e8, compute=1e10)
    assert [(one.ceiling, one.share) for one in found.shares] == [
        (PEAK, pytest.approx(0.5)),
        (COPY, pytest.approx(2 / 3)),
        (COMPUTE, pytest.approx(0.2)),
    ]
    assert found.ridge.flops_per_byte == 250
    assert (found.intensity, found.bound) == (100, "memory")
    assert found.floor.floor_us == pytest.approx(25)
    assert set(found.used) == {PEAK, COPY, COMPUTE}


def test_r4_the_other_side_of_the_ridge():
    found = place(100, bandwidth=1e8, compute=5e10)
    assert (found.bound, found.floor.floor_us) == ("compute", pytest.approx(50))


def test_one_kind_of_work_alone_has_a_floor_and_no_side():
    found = place(20, compute=1e10)
    assert (found.bound, found.intensity) == (None, None)
    assert found.floor.floor_us == pytest.approx(10)


def test_law_1_an_unknown_ceiling_gives_no_share_and_no_ridge():
    found = place(50, Ceilings((PEAK,), (), {}), bandwidth=1e8, compute=1e10)
    assert [one.question for one in found.shares] == ["bandwidth"]
    assert (found.ridge.text, found.bound) == (UNKNOWN, None)
    assert place(50, Ceilings((), (), {}), bandwidth=1e8).floor is None


@pytest.mark.parametrize(
    ("time_us", "needs", "words"),
    [
        (24.9, {"bandwidth": 1e8}, "100 MB in 24.9 µs would be 4.02 TB/s, 100.4 % of memory_"),
        (9.9, {"compute": 1e10}, "10.0 Gop in 9.90 µs would be 1,010 Top/s, 101 % of peak_bf16"),
    ],
)
def test_law_6_nothing_is_above_a_documented_peak(time_us, needs, words):
    with pytest.raises(AbovePeakError, match="the time or the work is wrong") as caught:
        place(time_us, **needs)
    assert words in str(caught.value)
    assert "<- <gpu-wiki>/docs/hardware/h100.md:L23" in str(caught.value)


def test_a_measured_ceiling_may_be_exceeded_by_its_slack_alone():
    alone = Ceilings((COPY,), (), {})
    assert place(33, alone, bandwidth=1e8).shares[0].share == pytest.approx(1.01, rel=1e-2)
    with pytest.raises(AbovePeakError, match="copy_bandwidth"):
        place(32, alone, bandwidth=1e8)
    assert place(32, alone, slack=0.1, bandwidth=1e8).shares


def test_the_documented_peak_counts_before_a_higher_measured_value():
    high = ceiling(5e12, evidence="measured")
    assert peak_of([high, PEAK, ceiling(2e12)]) == PEAK
    assert peak_of([COPY, high]) == high
    assert peak_of([]) is None


@pytest.mark.parametrize("number", [0.0, -1.0, float("nan")])
def test_it_refuses_numbers_that_are_not_above_zero(number):
    with pytest.raises(ValueError, match=r"time_us: .*accepted: above zero"):
        place(number, bandwidth=1.0)
    with pytest.raises(ValueError, match=r"compute: .*accepted: above zero"):
        place(1.0, compute=number)


def test_r4_a_block_has_the_rate_of_a_unit_and_not_of_the_chip():
    # 132 blocks on 132 units take as long as the whole work on the whole chip.
    found = place(50, waves=Waves(132, 132), compute=1e10)
    assert found.tile_floor_us == pytest.approx(10)
    assert found.waves_floor_us == pytest.approx(10)
    found = place(50, waves=Waves(133, 132), compute=1e10)
    assert found.waves_floor_us == pytest.approx(2 * 10 * 132 / 133)


@given(
    blocks=st.integers(1, 10**6),
    units=st.integers(1, 1000),
    work=st.floats(1, 1e15, allow_nan=False),
)
def test_r4_the_ceiling_of_waves_is_never_above_the_peak(blocks, units, work):
    found = place(1e12, waves=Waves(blocks, units), compute=work)
    assert found.waves_floor_us >= found.floor.floor_us * (1 - 1e-12)
