"""A gain is assigned to kernel, cache, dispatch and residual, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.contract import Timer, Timing
from campaigns.rules.verdict.attribution import attribute
from tests.campaigns.rules.builders import case

# 8 µs of kernel, 2 µs for cold caches, 1 µs between kernels, 4 µs to launch by itself.
OLD = Timing((11.0, 11.0), 64, 8, Timer.GRAPH, device_us=10.0, warm_us=9.0, eager_us=15.0)
TIMES = st.none() | st.floats(0.5, 1e4)


def test_it_takes_a_call_apart():
    found = attribute(case(OLD, OLD))
    assert found is not None
    parts = found.incumbent
    assert (parts.kernel_us, parts.cache_us, parts.dispatch_us, parts.residual_us) == (8, 2, 4, 1)
    assert parts.total_us == 15
    assert found.saved.total_us == 0


@pytest.mark.parametrize(
    ("changed", "main"),
    [
        ({"samples_us": (7.0, 7.0), "device_us": 6.0, "warm_us": 5.0, "eager_us": 11.0}, "kernel"),
        ({"samples_us": (9.0, 9.0), "device_us": 8.0, "eager_us": 13.0}, "cache"),
        ({"eager_us": 11.5}, "dispatch"),
        ({"samples_us": (10.0, 10.0), "warm_us": 8.0, "eager_us": 14.0}, "residual"),
        ({"samples_us": (16.0,), "device_us": 15.0, "warm_us": 14.0, "eager_us": 20.0}, "kernel"),
    ],
)
def test_it_names_the_part_that_a_gain_or_loss_is_in(changed, main):
    found = attribute(case(replace(OLD, **changed), OLD))
    assert found is not None
    assert found.main == main


def test_it_compares_no_part_that_one_arm_lacks():
    found = attribute(case(replace(OLD, warm_us=None, eager_us=None), OLD))
    assert found is not None
    assert (found.saved.cache_us, found.saved.dispatch_us) == (None, None)
    assert found.incumbent.kernel_us == 10
    assert attribute(case(OLD)) is None


@given(st.lists(st.tuples(st.floats(0.5, 1e4), TIMES, TIMES, TIMES), min_size=2, max_size=2))
def test_the_parts_sum_up_to_the_whole(arms):
    old, new = (
        Timing((us,), 64, 8, Timer.GRAPH, device_us=device, warm_us=warm, eager_us=eager)
        for us, device, warm, eager in arms
    )
    found = attribute(case(new, old))
    assert found is not None
    for parts in (found.incumbent, found.candidate, found.saved):
        known = (parts.kernel_us, parts.cache_us, parts.dispatch_us, parts.residual_us)
        assert sum(us for us in known if us is not None) == pytest.approx(parts.total_us, abs=1e-6)
