"""Burst and device time are compared in one state of the card, and between the arms."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import DevicePair, Timer, Timing
from campaigns.evaluator.contract.timing import excess_us


def arm(samples_us: float, *pairs: tuple[float, float], timer: Timer = Timer.GRAPH) -> Timing:
    taken = tuple(DevicePair(burst, device) for burst, device in pairs)
    return Timing((samples_us,) * 6, 64, 8, timer, device_us=1.0, device_pairs=taken)


STEADY = arm(450.0, (452.0, 450.0), (455.0, 454.0), (451.0, 452.0))


@pytest.mark.parametrize(
    ("candidate", "agrees"),
    [
        # A card near its power limit: each traced burst is as slow as the burst before it.
        (arm(189.0, (190.0, 188.0), (209.0, 211.0), (190.0, 189.0)), True),
        (arm(189.0, (197.0, 196.0), (198.0, 199.0), (196.0, 197.0)), True),
        # Calls that overlap: the device works longer than the clock says.
        (arm(30.0, (30.0, 52.0), (31.0, 50.0), (30.0, 51.0)), False),
        # Work that the clock sees and the device does not.
        (arm(80.0, (80.0, 50.0), (80.0, 50.0), (80.0, 50.0)), False),
        # Honest only where a tracer is attached.
        (arm(30.0, (51.0, 50.0), (52.0, 50.0), (50.0, 51.0)), False),
        # Small kernels: launching takes a few µs of each.
        (arm(3.7, (4.2, 3.0), (4.4, 3.1), (4.1, 3.0)), True),
    ],
)
def test_it_compares_bursts_with_the_traced_bursts_beside_them(candidate, agrees):
    assert (excess_us(candidate, STEADY) <= 0) is agrees
    assert (excess_us(candidate, None) <= 0) is agrees


def test_what_both_arms_show_alike_is_excused():
    hot = arm(100.0, (100.0, 112.0))
    assert excess_us(hot, STEADY) > 0
    assert excess_us(hot, arm(200.0, (200.0, 222.0))) <= 0


def test_one_odd_pair_of_several_decides_nothing():
    assert excess_us(arm(100.0, (100.0, 100.0), (100.0, 160.0), (101.0, 100.0)), STEADY) <= 0


def test_it_has_one_pair_of_a_report_without_pairs():
    older = Timing((100.0,) * 6, 64, 8, Timer.GRAPH, device_us=160.0)
    assert excess_us(older, None) == pytest.approx(60 - 5 - 5)
