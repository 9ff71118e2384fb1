import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.charts.scale import (
    Scale,
    ScaleKind,
    nice_step,
    outward_125,
    outward_two,
    tick_text,
    ticks_125,
    ticks_linear,
    ticks_of_two,
)

LOG = Scale(ScaleKind.LOG, 0.1, 100, 60, 660)


@given(st.floats(0.1, 100))
def test_it_maps_logarithms_within_a_pixel(value):
    assert LOG.position(value) == pytest.approx(60 + 200 * (math.log10(value) + 1), abs=0.01)


def test_it_maps_both_ends():
    down = Scale(ScaleKind.LINEAR, 0, 10, 300, 20)
    assert (down.position(0), down.position(5), down.position(10)) == (300, 160, 20)


@pytest.mark.parametrize(("kind", "low", "high"), [("log", 0, 1), ("log", 2, 2), ("linear", 3, 1)])
def test_it_refuses_an_empty_axis(kind, low, high):
    with pytest.raises(ValueError, match="empty or not positive"):
        Scale(ScaleKind(kind), low, high, 0, 1)


def test_it_ticks_at_one_two_five():
    assert [tick.text for tick in ticks_125(LOG)] == [
        *("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
    ]
    crowded = Scale(ScaleKind.LOG, 0.1, 100, 0, 90)
    assert [tick.text for tick in ticks_125(crowded)] == ["0.1", "1", "10", "100"]


def test_it_ticks_at_powers_of_two():
    scale = Scale(ScaleKind.LOG, 0.25, 64, 0, 640)
    assert [tick.value for tick in ticks_of_two(scale)] == [2.0**n for n in range(-2, 7)]
    assert [tick.value for tick in ticks_of_two(scale, 100)] == [0.25, 1, 4, 16, 64]


def test_it_never_leaves_out_zero_where_there_is_little_room():
    ticks = ticks_linear(Scale(ScaleKind.LINEAR, -17, 23, 0, 400), 8)
    assert [tick.value for tick in ticks] == [-15, -10, -5, 0, 5, 10, 15, 20]
    assert [tick.value for tick in ticks if not tick.minor] == [-10, 0, 10, 20]


@given(st.floats(1e-6, 1e6), st.floats(1, 1e4))
def test_it_widens_an_axis_to_hold_its_points(low, ratio):
    for widen in (outward_125, outward_two):
        start, end = widen(low, low * ratio)
        assert start <= low * (1 + 1e-9)
        assert end >= low * ratio * (1 - 1e-9)


@pytest.mark.parametrize(("raw", "step"), [(1.1, 2), (2.4, 2.5), (0.03, 0.05), (70, 100), (1, 1)])
def test_it_takes_round_steps(raw, step):
    assert nice_step(raw) == pytest.approx(step)


def test_it_writes_ticks_without_idle_digits():
    assert [tick_text(value) for value in (0.05, 2, 1000, 12.5, 0)] == [
        *("0.05", "2", "1,000", "12.5", "0")
    ]
