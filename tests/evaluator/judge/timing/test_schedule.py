"""Burst lengths and the order of turns."""

from __future__ import annotations

import pytest

from campaigns.evaluator.judge.timing.schedule import (
    BurstLengths,
    agree,
    calibrate,
    calls_to_prove,
    choose_lengths,
    lengthen,
    turns,
)


@pytest.mark.parametrize("call_us", [1.0, 30.0, 5_000.0, 2_000_000.0])
def test_it_makes_the_difference_of_two_bursts_long_enough(call_us):
    lengths = choose_lengths(call_us / 1e6, burst_ms=5.0, most=100_000)
    assert 1 <= lengths.short < lengths.long
    assert (lengths.long - lengths.short) * call_us >= 5_000 * 0.98


def test_it_stays_within_the_slots_there_are():
    assert choose_lengths(1e-6, burst_ms=5.0, most=16) == BurstLengths(2, 16)


def test_with_one_slot_the_short_burst_makes_no_call():
    assert choose_lengths(4e-3, burst_ms=10.0, most=1) == BurstLengths(0, 1)
    assert choose_lengths(4e-3, burst_ms=10.0, most=2) == BurstLengths(1, 2)
    assert BurstLengths(0, 1).time_us(1e-4, 4.1e-3, 2e-4) == (pytest.approx(4000), True)


@pytest.mark.parametrize("call_ms", [0.01, 0.25, 1.0, 4.4, 8.0, 60.0, 2_000.0])
@pytest.mark.parametrize("waking_ms", [0.0, 5.0], ids=["awake", "threads wake on one core"])
def test_what_threads_take_to_wake_is_no_part_of_a_calls_time(call_ms, waking_ms):
    lengths = choose_lengths(call_ms / 1e3, burst_ms=20.0, most=4096, on_cpu=True)
    # Each call takes twice as long until they run.
    short_s, long_s = (
        (calls * call_ms + min(waking_ms, calls * call_ms)) / 1e3
        for calls in (lengths.short, lengths.long)
    )
    # Of calls that short more than can be spared would have to wait for the threads.
    rel = 0.16 if call_ms < 0.1 else 0.01
    assert lengths.slope_us(short_s, long_s) == pytest.approx(call_ms * 1e3, rel=rel)
    # The least time has what it takes in it, but only in a share that the many calls make small.
    if call_ms >= 4:
        found, fits = lengths.time_us(short_s, long_s, allowed_s=5e-4)
        assert (found, fits) == (pytest.approx(call_ms * 1e3, rel=0.1), True)


def test_bursts_on_a_cpu_have_enough_calls_and_are_not_much_longer_for_that():
    def difference(call_s):
        lengths = choose_lengths(call_s, burst_ms=20.0, most=4096, on_cpu=True)
        return lengths.long - lengths.short

    assert [difference(call_s) for call_s in (4e-3, 8e-3, 0.04, 0.3)] == [10, 10, 2, 1]
    assert choose_lengths(4e-3, burst_ms=20.0, most=6, on_cpu=True) == BurstLengths(3, 6)
    assert lengthen(BurstLengths(1, 2), 8e-3, 20.0, 4096, on_cpu=True) == BurstLengths(3, 13)


def test_it_cancels_what_both_bursts_share():
    overhead_s, call_s = 7e-4, 3e-5
    found = BurstLengths(10, 110).slope_us(overhead_s + 10 * call_s, overhead_s + 110 * call_s)
    assert found == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("slow_s", "time_us", "fits"),
    [
        pytest.param(0.0, 30.0, True, id="overhead as allowed"),
        pytest.param(1e-4, 30.0, True, id="a little more"),
        pytest.param(1.5e-3, 30.0, False, id="slow in the short burst"),
        pytest.param(9e-3, 30.0, False, id="slower than the long one"),
    ],
)
def test_it_makes_nobody_faster_to_be_slow_in_the_short_burst(slow_s, time_us, fits):
    overhead_s, call_s = 7e-4, 3e-5
    short_s, long_s = overhead_s + 10 * call_s + slow_s, overhead_s + 110 * call_s
    found, fitting = BurstLengths(10, 110).time_us(short_s, long_s, allowed_s=overhead_s + 5e-5)
    assert found == pytest.approx(time_us, rel=0.04)
    assert fitting is fits


def test_it_lengthens_bursts_that_are_over_too_soon():
    assert lengthen(BurstLengths(1, 2), 2e-5, burst_ms=5.0, most=4096) == BurstLengths(2, 16)
    assert lengthen(BurstLengths(2, 16), 2e-3, burst_ms=5.0, most=4096) == BurstLengths(5, 45)
    assert lengthen(BurstLengths(2, 16), 2e-3, burst_ms=5.0, most=20) == BurstLengths(2, 20)
    assert lengthen(BurstLengths(2, 16), 2e-3, burst_ms=5.0, most=16) is None
    assert lengthen(BurstLengths(2, 16), 4e-3, burst_ms=5.0, most=4096) is None


def test_it_alternates_a_b_b_a():
    assert ["".join(turns(block, ["A", "B"])) for block in (1, 2)] == ["ABBA", "ABBA"]
    assert "".join(turns(1, ["A"])) == "AA"


def test_of_more_arms_each_is_at_either_end_in_its_turn():
    blocks = ["".join(turns(block, ["A", "B", "C"])) for block in (1, 2, 3)]
    assert blocks == ["BCAACB", "CABBAC", "ABCCBA"]


def test_it_finds_the_time_of_a_call_behind_an_overhead():
    found = calibrate(lambda calls: 5e-4 + calls * 1e-4, most=10_000)
    assert found == pytest.approx(1e-4, rel=0.01)


def test_it_makes_no_more_calls_than_can_be_proven_in_time():
    assert calls_to_prove(64, 1e-4) == 64
    assert calls_to_prove(4096, 1e-3) == 500
    assert calls_to_prove(64, 0.4) == 16
    assert calls_to_prove(2, 10.0) == 2
    assert calls_to_prove(64, 0.0) == 64


def test_arms_that_take_about_as_long_get_bursts_of_one_length():
    assert agree({"candidate": 2.0e-5, "incumbent": 2.6e-5}) == {
        "candidate": 2.0e-5,
        "incumbent": 2.0e-5,
    }
    apart = {"candidate": 2.0e-5, "incumbent": 4.0e-5}
    assert agree(apart) == apart
    assert agree({"candidate": 2.0e-5}) == {"candidate": 2.0e-5}


def test_it_gives_those_like_the_incumbent_bursts_of_one_length():
    apart = {"incumbent": 2.0e-5, "candidate": 2.2e-5, "rival 1": 1.8e-5, "rival 2": 0.9e-5}
    assert agree(apart) == apart | dict.fromkeys(("incumbent", "candidate"), 1.8e-5)
