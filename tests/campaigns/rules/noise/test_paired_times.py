"""Times that can stand beside each other: v0's over the paired gains since."""

import pytest

from campaigns.rules.noise.gain import geomean
from campaigns.rules.verdict.chained import PairedStep, paired_times
from campaigns.rules.verdict.decision import VerdictWord as Word

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
