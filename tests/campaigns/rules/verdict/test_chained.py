"""Rounds' gains one after the other against what is measured side by side at the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.rules.noise.gain import KIND, Gain, geomean
from campaigns.rules.verdict.chained import CHAINED, PairedStep, chained, excess, paired_times
from campaigns.rules.verdict.decision import VerdictWord as Word

HALF = Gain(0.5, 0.4, 0.6, 10)


def test_nothing_comes_of_no_gains():
    assert chained([]) is None
    assert excess(HALF, []) == ""
    assert excess(None, [HALF, HALF]) == ""


def test_one_gain_is_itself_and_two_are_a_product():
    assert chained([HALF]) == HALF
    both = chained([HALF, Gain(1.0, 0.9, 1.2, 6)])
    assert (both.gain, both.low, both.high) == pytest.approx((2.0, 1.66, 2.52))
    assert (both.pairs, both.kind) == (6, CHAINED)


@pytest.mark.parametrize(
    ("direct", "told"),
    [
        pytest.param(Gain(1.24, 1.2, 1.3, 10, KIND), False, id="as the rounds say"),
        pytest.param(Gain(1.8, 1.7, 1.9, 10, KIND), False, id="more than they say"),
        pytest.param(Gain(0.9, 0.85, 0.97, 10, KIND), False, id="their intervals touch"),
        pytest.param(Gain(0.51, 0.5, 0.52, 10, KIND), True, id="an incumbent got slower"),
    ],
)
def test_it_tells_gains_that_come_to_more_than_is_seen_side_by_side(direct, told):
    words = excess(direct, [HALF, HALF])
    assert bool(words) is told
    if told:
        assert "multiply to more than 1.51× faster [1.50, 1.52] against v0" in words
        assert "2.25" not in words


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9), st.floats(0, 0.009))
def test_it_says_nothing_of_true_gains_however_many(gains, half_width):
    found = [Gain(gain, gain - half_width, gain + half_width, 10) for gain in gains]
    product = chained(found)
    assert product.low <= product.gain <= product.high
    assert excess(Gain(product.gain, product.gain, product.gain, 10), found) == ""


V0 = {"small": 10.0, "large": 1000.0}


def step(number, against, word, small, large):
    ratio = geomean([small, large])
    return PairedStep(number, against, word, ratio, {"small": small, "large": large})


def test_it_divides_each_case_by_its_gains_one_after_the_other():
    steps = [step(2, 1, Word.ACCEPTED, 2.0, 4.0), step(3, 2, Word.ACCEPTED, 1.0, 2.0)]
    found = paired_times(V0, steps, None)
    assert found[2] == pytest.approx({"small": 5.0, "large": 250.0})
    assert found[3] == pytest.approx({"small": 5.0, "large": 125.0})


def test_the_incumbent_is_where_it_was_measured_side_by_side():
    steps = [step(2, 1, Word.ACCEPTED, 3.0, 3.0), step(3, 2, Word.ACCEPTED, 1.5, 1.5)]
    found = paired_times(V0, steps, 2.0)
    assert geomean(V0.values()) / geomean(found[3].values()) == pytest.approx(2.0)
    # The gains came to 4.5 between them: no earlier round is shown as faster than the last.
    assert found[2] == pytest.approx(found[3])


@pytest.mark.parametrize("word", [Word.NO_CHANGE, Word.REJECTED])
def test_a_round_without_a_gain_is_never_faster_than_its_incumbent(word):
    steps = [step(2, 1, Word.ACCEPTED, 2.0, 2.0), step(3, 2, word, 1.4, 1.3)]
    found = paired_times(V0, steps, None)
    assert geomean(found[3].values()) == pytest.approx(geomean(found[2].values()))
    slower = paired_times(V0, [*steps[:1], step(3, 2, word, 0.5, 0.5)], None)
    assert slower[3] == pytest.approx(V0)


def test_an_invalid_round_proves_no_time():
    assert 2 not in paired_times(V0, [step(2, 1, Word.INVALID, 9.0, 9.0)], None)


def test_without_gains_of_each_case_all_are_as_much_faster():
    found = paired_times(V0, [PairedStep(2, 1, Word.ACCEPTED, 2.0, {})], None)
    assert found[2] == {"small": 5.0, "large": 500.0}
