"""What a burst takes besides its calls, and how that grows with its length."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.judge.overhead import Growth

# A burst of 1 ms has 0.6 ms of overhead, one of 5 ms 0.7 ms, one of 17 ms 0.68 ms.
SEEN = Growth(((0.001, 0.0006), (0.005, 0.0007), (0.017, 0.00068)))


@pytest.mark.parametrize(
    ("seconds", "more"),
    [
        pytest.param(1e-4, 0.0, id="shorter than all that were seen"),
        pytest.param(0.001, 0.0, id="the shortest"),
        pytest.param(0.003, 5e-5, id="between"),
        pytest.param(0.005, 1e-4, id="one that was seen"),
        pytest.param(0.011, 9e-5, id="between the last"),
        pytest.param(0.040, 8e-5, id="longer than all that were seen"),
    ],
)
def test_it_grows_as_it_was_seen_to_and_never_beyond(seconds, more):
    assert SEEN.at(seconds) == pytest.approx(more, abs=1e-9)


def test_it_does_not_grow_where_none_was_seen():
    assert Growth().at(0.02) == 0.0


overheads = st.lists(st.floats(0, 1e-3), min_size=1, max_size=6)


@given(overheads, st.floats(0, 0.1))
def test_it_is_never_less_than_nothing_nor_more_than_was_seen(seen, seconds):
    growth = Growth(tuple((0.001 * (n + 1), over_s) for n, over_s in enumerate(seen)))
    assert 0.0 <= growth.at(seconds) <= max(seen) + 1e-12


def test_it_takes_no_leap_between_two_lengths():
    steps = [SEEN.at(n * 1e-4) for n in range(200)]
    assert max(abs(after - before) for before, after in pairwise(steps)) < 4e-6
