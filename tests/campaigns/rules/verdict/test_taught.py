"""What each verdict teaches about its attempt."""

import pytest

from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VERDICT_OF, Reason, VerdictWord
from campaigns.rules.verdict.expectation import SILENT, WRONG, is_decided, taught
from knowledge.experience.terms import AttemptLabel

FASTER, SAME, SLOWER = (
    Gain(0.3, 0.28, 0.32, 9),
    Gain(0.0, -0.01, 0.01, 9),
    Gain(-0.2, -0.3, -0.1, 9),
)
FLOOR = 0.01


@pytest.mark.parametrize("reason", Reason)
def test_r37_every_reason_teaches_one_thing(reason: Reason) -> None:
    found = taught(reason, FASTER, FLOOR)
    if reason in SILENT:
        assert found is None
    elif reason in WRONG:
        assert found is AttemptLabel.INCORRECT
    elif VERDICT_OF[reason] in (VerdictWord.ACCEPTED, VerdictWord.NEEDS_REVIEW):
        assert found is AttemptLabel.SUCCESS
    else:
        assert found is AttemptLabel.TIE


@pytest.mark.parametrize("reason", [Reason.BROKEN_HOST, Reason.BASELINE])
def test_law_8_infrastructure_is_no_lesson(reason: Reason) -> None:
    assert taught(reason, SLOWER, FLOOR) is None


def test_what_was_not_measured_teaches_nothing() -> None:
    assert taught(Reason.TOO_SHORT, None, FLOOR) is None
    assert taught(Reason.NOT_TIMED, None, FLOOR) is None
    assert taught(Reason.BUILD_FAILED, None, FLOOR) is AttemptLabel.INCORRECT


def test_it_labels_by_size_and_by_what_the_verdict_accepts() -> None:
    assert taught(Reason.SLOWER, SLOWER, FLOOR) is AttemptLabel.REGRESSION
    assert taught(Reason.WITHIN_NOISE, SAME, FLOOR) is AttemptLabel.TIE
    assert taught(Reason.NOT_SANITIZED, SAME, FLOOR) is AttemptLabel.TIE


def test_a_person_decides_what_needs_review() -> None:
    assert not is_decided(Reason.CEILING_TOO_LOW)
    assert is_decided(Reason.SLOWER)
