"""Points as numbers."""

from __future__ import annotations

from campaigns.spaces.features import LEFT, features
from campaigns.spaces.space import Knob, Space

SPACE = Space(
    (
        Knob("BLOCK", (16, 32, 64), 32),
        Knob("unroll", (0, 1, 2), 0),
        Knob("num_stages", (1, 2, 3), 3),
        Knob("autotune", (True, False), True),
        Knob("flags", ("", "-O3", "-O3 -march=native"), ""),
    )
)


def test_it_takes_logarithms_of_powers_and_encodes_choices_one_by_one():
    assert features(SPACE, SPACE.defaults) == [5.0, LEFT, 3.0, 1.0, 1.0, 0.0, 0.0]


def test_each_point_of_a_space_has_as_many_numbers_and_its_own():
    found = [tuple(features(SPACE, point)) for point in SPACE.points()]
    assert {len(numbers) for numbers in found} == {7}
    assert len(set(found)) == SPACE.size
