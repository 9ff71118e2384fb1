"""In which order the slots of a burst are worked on."""

from __future__ import annotations

import itertools
import random

import pytest

from campaigns.evaluator.judge.burst import draw_order


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 8, 101])
def test_every_slot_has_its_turn(calls):
    assert sorted(draw_order(calls, random.Random(0))) == list(range(calls))


def test_none_of_the_first_half_lie_side_by_side():
    for seed in range(20):
        first = sorted(draw_order(101, random.Random(seed))[:50])
        assert all(two - one > 1 for one, two in itertools.pairwise(first))


def test_it_is_drawn_anew():
    draw = random.Random(0)
    assert len({tuple(draw_order(6, draw)) for _ in range(400)}) == 72
