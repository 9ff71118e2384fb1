"""A gain is written in one style: what is claimed, its interval, or that there is none."""

import pytest

from knowledge.experience.wording import gain_words


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ((0.123, 0.101, 0.14), "1.12× faster [1.10, 1.14]"),
        ((0.123, None, None), "1.12× faster, no interval"),
        ((None, None, None), "not measured"),
    ],
)
def test_a_gain_in_words(gain, words):
    assert gain_words(*gain) == words
