"""What a burst takes besides its calls, and how that grows with its length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.judge.timing.overhead import MOST_DOUBLING_S, Growth

# Known from bursts of 2 to 16 ms: whenever one is twice as long, 10 µs more.
KNOWN = Growth(doubling_s=1e-5, shortest_s=0.002, longest_s=0.016)


@pytest.mark.parametrize(
    ("seconds", "more"),
    [
        pytest.param(1e-4, 0.0, id="shorter than all that were seen"),
        pytest.param(0.002, 0.0, id="the shortest"),
        pytest.param(0.004, 1e-5, id="twice that"),
        pytest.param(0.008, 2e-5, id="and again"),
        pytest.param(0.016, 3e-5, id="the longest"),
        pytest.param(0.040, 3e-5, id="longer than all that were seen"),
    ],
)
def test_it_grows_with_each_doubling_and_never_beyond_what_was_seen(seconds, more):
    assert KNOWN.at(seconds) == pytest.approx(more, abs=1e-9)


def test_it_does_not_grow_where_none_was_seen():
    assert Growth().at(0.02) == 0.0


def test_a_line_goes_through_what_was_seen():
    seen = [(0.002, 6.0e-4), (0.004, 6.1e-4), (0.008, 6.2e-4), (0.016, 6.3e-4)]
    growth = Growth.fitted(seen)
    assert growth.doubling_s == pytest.approx(1e-5)
    assert (growth.shortest_s, growth.longest_s) == (0.002, 0.016)


def test_one_odd_burst_length_does_not_become_a_leap():
    seen = [(0.002, 6.0e-4), (0.004, 7.0e-4), (0.008, 6.2e-4), (0.016, 6.3e-4)]
    growth = Growth.fitted(seen)
    assert growth.at(0.004) < 2e-5


def test_a_disturbance_is_not_taken_for_growth():
    seen = [(0.002, 6.0e-4), (0.004, 6.1e-4), (0.008, 9.2e-4), (0.016, 12.3e-4)]
    assert Growth.fitted(seen).doubling_s == MOST_DOUBLING_S


lengths = st.lists(st.floats(1e-4, 0.1), min_size=2, max_size=6, unique_by=lambda s: round(s, 5))


@given(lengths, st.data(), st.floats(0, 0.2))
def test_it_is_never_negative_nor_more_than_at_the_longest(lengths, data, seconds):
    overheads = st.lists(st.floats(0, 1e-3), min_size=len(lengths), max_size=len(lengths))
    growth = Growth.fitted(list(zip(lengths, data.draw(overheads), strict=True)))
    assert growth.at(seconds) >= 0.0
    assert growth.at(seconds) <= growth.at(1.0)
