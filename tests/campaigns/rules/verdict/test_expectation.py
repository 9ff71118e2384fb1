"""What was expected against what was measured (R34)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import Gain, improved
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.expectation import (
    SILENT,
    WRONG,
    Borne,
    borne_out,
    is_decided,
    least_wanted,
    saved_share,
    taught,
)
from knowledge.experience.terms import AttemptLabel

NOISE = 0.01


def told(amount, gain, low=None, high=None, metric="time_us", direction="down"):
    low, high = gain - 0.005 if low is None else low, gain + 0.005 if high is None else high
    return borne_out(metric, direction, amount, Gain(gain, low, high, 10), NOISE)


@pytest.mark.parametrize(
    ("amount", "least"), [(0.6, 0.15), (0.02, 0.005), (0.012, 0.002), (0.005, 0.0)]
)
def test_r34_a_quarter_or_all_but_a_hundredth_is_wanted(amount, least):
    assert least_wanted(amount) == pytest.approx(least)


@pytest.mark.parametrize(
    ("amount", "gain", "borne"),
    [
        (0.6, 1.5, Borne.CONFIRMED),
        (0.6, 0.18, Borne.CONFIRMED),
        (0.6, 0.15, Borne.PARTLY),
        (None, 0.02, Borne.CONFIRMED),
        (0.6, 0.002, Borne.REFUTED),
        (0.6, -0.2, Borne.REFUTED),
        (0.02, -0.02, Borne.REFUTED),
    ],
)
def test_r34_it_tells_what_became_of_an_expectation(amount, gain, borne):
    assert told(amount, gain) is borne


def test_r34_an_interval_that_allows_for_both_tells_nothing():
    assert told(0.02, 0.02, low=-0.03, high=0.07) is Borne.UNDECIDED
    assert told(0.6, 0.02, low=-0.03, high=0.07) is Borne.REFUTED


def test_r34_what_was_not_measured_is_not_told():
    assert borne_out("time_us", "down", 0.1, None, NOISE) is Borne.UNDECIDED
    assert told(0.1, 0.5, metric="occupancy", direction="up") is Borne.UNDECIDED


def test_r34_it_understands_what_the_built_in_search_expects():
    assert told(0.1, 0.5, metric="time per call") is Borne.CONFIRMED


def test_a_gain_saves_less_of_the_time_than_its_own_size():
    assert saved_share(1.0) == 0.5
    assert saved_share(-0.5) == -1.0


@given(st.floats(0.001, 0.99), st.floats(-0.9, 5), st.floats(0, 0.5), st.floats(0, 0.5))
def test_r34_nothing_is_confirmed_without_a_gain(amount, gain, down, up):
    found = Gain(gain, gain - down, gain + up, 10)
    borne = borne_out("time_us", "down", amount, found, NOISE)
    assert (borne in (Borne.CONFIRMED, Borne.PARTLY)) is improved(found, NOISE)


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
    elif reason.verdict in (VerdictWord.ACCEPTED, VerdictWord.NEEDS_REVIEW):
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
    unproven = [one for one in Reason if one.verdict is VerdictWord.NO_CHANGE]
    labels = {taught(one, SLOWER, FLOOR) for one in unproven}
    assert labels <= {AttemptLabel.TIE, None}
    assert len(unproven) > 1
    assert taught(Reason.NOT_SANITIZED, SAME, FLOOR) is AttemptLabel.TIE


def test_a_person_decides_what_needs_review() -> None:
    assert not is_decided(Reason.CEILING_TOO_LOW)
    assert is_decided(Reason.SLOWER)
