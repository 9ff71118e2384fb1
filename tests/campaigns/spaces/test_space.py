"""The space: its size, what is legal in it, and that nothing has to count it out."""

from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.spaces.space import Knob, KnobConstraint, Space

HUGE = Space(
    tuple(Knob(f"k{n}", tuple(range(10)), 0) for n in range(12)),
    (KnobConstraint("k0 + k11 <= 9", "k0 and k11 are at most 9 together"),),
)


@st.composite
def spaces(draw):
    """A space of up to five knobs, some of whose points are refused."""
    values = st.lists(st.integers(0, 20), min_size=1, max_size=5, unique=True)
    knobs = [
        Knob(f"k{n}", tuple(v), v[0]) for n, v in enumerate(draw(st.lists(values, max_size=5)))
    ]
    limit = draw(st.integers(0, 60))
    total = " + ".join(knob.name for knob in knobs)
    refused = [KnobConstraint(f"{total} <= {limit}", "too much")] if knobs else []
    return Space(tuple(knobs), tuple(refused))


@given(spaces())
def test_its_points_are_the_legal_ones_of_all_that_its_size_counts(space):
    points = list(space.points())
    assert len(points) <= space.size
    assert len({tuple(point.items()) for point in points}) == len(points)
    assert [space.is_legal(point) for point in points] == [""] * len(points)
    free = Space(space.knobs)
    assert len(list(free.points())) == free.size
    assert [p for p in free.points() if not space.is_legal(p)] == points


@given(spaces(), st.randoms(use_true_random=False))
def test_a_sample_is_legal_and_there_is_one_where_a_point_is(space, rng):
    drawn = space.sample(rng)
    assert (drawn is None) == (next(space.points(), None) is None)
    assert drawn is None or not space.is_legal(drawn)


@given(spaces(), st.randoms(use_true_random=False))
def test_neighbours_are_legal_and_differ_in_one_knob(space, rng):
    point = space.sample(rng)
    if point is None:
        return
    found = list(space.neighbours(point))
    assert all(not space.is_legal(other) for other in found)
    assert all(sum(other[k] != point[k] for k in point) == 1 for other in found)
    assert all(point in space.neighbours(other) for other in found)


@given(spaces(), st.integers(0, 40))
def test_it_gives_at_most_so_many_points(space, most):
    assert space.points_at_most(most) == list(space.points())[:most]


def test_the_nearest_neighbours_come_first():
    space = Space((Knob("a", (1, 2, 4, 8), 2), Knob("b", ("x", "y"), "x")))
    found = list(space.neighbours(space.defaults))
    assert found[:3] == [{"a": 1, "b": "x"}, {"a": 4, "b": "x"}, {"a": 2, "b": "y"}]
    assert found[3:] == [{"a": 8, "b": "x"}]


def test_a_space_of_a_million_million_points_is_used_without_counting_it_out():
    assert HUGE.size == 10**12
    point = HUGE.sample(Random(1))
    assert point is not None
    assert not HUGE.is_legal(point)
    assert len(list(HUGE.neighbours(point))) > 50
    assert len(HUGE.points_at_most(500)) == 500
    assert next(HUGE.points())["k0"] == 0


def test_rare_points_are_found_among_a_million_million():
    rare = Space(HUGE.knobs, tuple(KnobConstraint(f"k{n} == 7", "only 7") for n in range(12)))
    assert rare.sample(Random(1)) == dict.fromkeys(rare.defaults, 7)
    assert rare.points_at_most(5) == [dict.fromkeys(rare.defaults, 7)]


def test_the_search_for_a_point_of_none_ends():
    empty = Space(HUGE.knobs, (KnobConstraint(" + ".join(HUGE.defaults) + " > 1000", "never"),))
    assert empty.sample(Random(1)) is None
    assert empty.points_at_most(3) == []


def test_it_says_why_a_point_is_refused():
    space = Space((Knob("a", (1, 2), 1),), (KnobConstraint("a < 2", "a is below 2"),))
    assert space.is_legal({"a": 1}) == ""
    assert space.is_legal({"a": 2}) == "a is below 2"
    assert space.is_legal({"a": 3}) == "a is one of 1, 2"
    assert space.is_legal({"b": 1}) == "the knobs are a"


def test_one_without_knobs_has_one_point():
    assert Space(()).size == 1
    assert Space(()).points_at_most(5) == [{}]
    assert Space(()).sample(Random(1)) == {}
    assert list(Space(()).neighbours({})) == []


def test_it_refuses_names_that_do_not_fit_together():
    knob = Knob("a", (1, 2), 1)
    with pytest.raises(ValueError, match="two knobs have one name"):
        Space((knob, knob))
    with pytest.raises(ValueError, match="speaks of no knob"):
        Space((knob,), (KnobConstraint("b > 1", "why"),))
    with pytest.raises(ValueError, match="has to list 3"):
        Knob("a", (1, 2), 3)


def test_it_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(HUGE)) == HUGE
