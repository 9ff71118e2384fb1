"""A gain is written in one style: what is claimed, its interval, or that there is none."""

import pytest

from knowledge.experience.wording import gain_words


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ((0.123, 0.101, 0.14), "12.3 % faster [10.1, 14.0]"),
        ((-0.08, -0.091, -0.065), "8.0 % slower [6.5, 9.1]"),
        ((0.004, -0.009, 0.018), "no change shown, +0.4 % [−0.9, +1.8]"),
        ((0.0001, -0.01, 0.01), "no change shown, 0.0 % [−1.0, +1.0]"),
        ((0.123, None, None), "12.3 % faster, no interval"),
        ((0.0, None, None), "as fast, no interval"),
        ((17.5, 16.0, 18.25), "1,750.0 % faster [1,600.0, 1,825.0]"),
        ((None, None, None), "not measured"),
    ],
)
def test_a_gain_in_words(gain, words):
    assert gain_words(*gain) == words
