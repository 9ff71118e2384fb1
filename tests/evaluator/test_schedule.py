"""Burst lengths and the order of turns."""

from __future__ import annotations

import pytest

from campaigns.evaluator.judge.schedule import Lengths, calibrate, choose_lengths, turns


@pytest.mark.parametrize("call_us", [1.0, 30.0, 5_000.0, 2_000_000.0])
def test_it_makes_the_difference_of_two_bursts_long_enough(call_us):
    lengths = choose_lengths(call_us / 1e6, burst_ms=5.0, most=100_000)
    assert 1 <= lengths.short < lengths.long
    assert (lengths.long - lengths.short) * call_us >= 5_000 * 0.98


def test_it_stays_within_the_slots_there_are():
    assert choose_lengths(1e-6, burst_ms=5.0, most=16) == Lengths(2, 16)


def test_it_cancels_what_both_bursts_share():
    overhead_s, call_s = 7e-4, 3e-5
    found = Lengths(10, 110).slope_us(overhead_s + 10 * call_s, overhead_s + 110 * call_s)
    assert found == pytest.approx(30.0)


def test_it_alternates_a_b_b_a():
    assert "".join(turns(2, ["A", "B"])) == "ABBAABBA"
    assert "".join(turns(2, ["A"])) == "AAAA"


def test_it_finds_the_time_of_a_call_behind_an_overhead():
    found = calibrate(lambda calls: 5e-4 + calls * 1e-4, most=10_000)
    assert found == pytest.approx(1e-4, rel=0.01)
