"""Forward and backward make one step."""

from dataclasses import replace

import pytest

from campaigns.rules.noise.directions import (
    Direction,
    Half,
    by_step,
    combined_rate,
    times_by_step,
)
from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from tests.campaigns.rules.builders import case, report, timing

HALVES = {
    "a fwd": Half("a", Direction.FORWARD),
    "a bwd": Half("a", Direction.BACKWARD),
    "b fwd": Half("b", Direction.FORWARD),
}
AGAINST = Standard(has_incumbent=True, halves=HALVES, protected=frozenset())


def of_product(forward, backward):
    return combined_rate((2.0, forward), (4.0, backward))


@pytest.mark.parametrize(
    ("forward", "backward", "step"),
    [(500, 250, 300.0), (320, 160, 192.0), (305, 152, 182.520), (290, 145, 174.0)],
)
def test_r14_a_step_is_the_work_of_both_over_their_time(forward, backward, step):
    assert round(of_product(forward, backward), 3) == step


def test_r14_steps_are_averaged_geometrically():
    mean = geomean(of_product(*pair) for pair in ((320, 160), (305, 152), (290, 145)))
    assert round(mean, 3) == 182.692
    assert round((mean / 168.59 - 1) * 100, 3) == 8.365


def test_r14_times_are_told_by_direction_and_one_direction_is_forward():
    both = times_by_step({"a fwd": 2.0, "a bwd": 4.0}, HALVES)
    assert (both.forward, both.backward) == ({"a": 2.0}, {"a": 4.0})
    one = times_by_step({"x": 5.0}, {})
    assert (one.forward, one.backward) == ({"x": 5.0}, {})


def test_r14_halves_are_added_and_what_has_no_other_half_stays():
    pairs = {"a fwd": [(1.0, 2.0)], "a bwd": [(3.0, 4.0)], "b fwd": [(5.0, 6.0)]}
    assert by_step(pairs, HALVES) == {"b fwd": [(5.0, 6.0)], "a": [(4.0, 6.0)]}


def test_r14_the_verdict_is_about_the_step_and_shows_both_directions():
    """A short forward that doubles and a long backward that loses a little: the step loses."""
    forward = case(timing([5.0] * 10), timing([10.0] * 10), "a fwd")
    backward = case(timing([110.0] * 10), timing([100.0] * 10), "a bwd")
    found = decide_session(report(forward, backward), AGAINST)
    assert found.reason is Reason.SLOWER
    assert found.gain.gain == pytest.approx(110 / 115 - 1)
    assert found.cases["a fwd"].gain == pytest.approx(1.0)
    assert found.cases["a bwd"].gain == pytest.approx(100 / 110 - 1)
    apart = decide_session(report(forward, backward), replace(AGAINST, halves={}))
    assert apart.reason is Reason.PROMOTED


def test_it_names_a_rate_that_is_none():
    with pytest.raises(ValueError, match="backward: a rate of 0"):
        combined_rate((2.0, 1.0), (4.0, 0))
