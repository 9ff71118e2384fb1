"""The words that experience is described with."""

import pytest

from knowledge.experience.terms import AttemptLabel, label_of

FLOOR = 0.01


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (0.05, AttemptLabel.SUCCESS),
        (0.0499, AttemptLabel.SMALL),
        (0.02, AttemptLabel.SMALL),
        (0.0199, AttemptLabel.MICRO),
        (0.01, AttemptLabel.TIE),
        (-0.008, AttemptLabel.TIE),
        (-0.0101, AttemptLabel.REGRESSION),
        (None, AttemptLabel.TIE),
    ],
)
def test_r12_it_labels_an_attempt_by_the_size_of_its_gain(
    gain: float | None, expected: AttemptLabel
) -> None:
    assert label_of(gain, correct=True, faster=True, floor=FLOOR) is expected


def test_r12_a_gain_that_the_verdict_does_not_accept_is_a_tie() -> None:
    assert label_of(0.3, correct=True, faster=False, floor=FLOOR) is AttemptLabel.TIE


def test_r12_what_is_wrong_has_no_size() -> None:
    assert label_of(0.3, correct=False, faster=True, floor=FLOOR) is AttemptLabel.INCORRECT
