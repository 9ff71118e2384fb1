"""What follows from the tables of both arms."""

import pytest

from campaigns.rules.harness.decide import Noise, compare, decide, noise_of
from campaigns.rules.harness.description import Score, read_harness
from campaigns.rules.verdict.decision import Reason
from tests.campaigns.repositories.projects import ROWS_HARNESS

HARNESS = read_harness(ROWS_HARNESS)
QUIET = Noise(0.01, {})


def shown(harness=HARNESS, **after):
    """Pairs of 100 against these values, one class each, six of them with a little noise."""
    wobble = (0.0, 0.1, -0.1, 0.2, -0.2, 0.0)
    pairs = {name: [(100.0 + w, value + w) for w in wobble] for name, value in after.items()}
    return compare(pairs, {name: name for name in after}, harness)


@pytest.mark.parametrize(
    ("after", "target", "reason"),
    [
        ({"a": 80.0, "b": 80.0}, "", Reason.PROMOTED),
        ({"a": 80.0, "b": 100.0}, "", Reason.PROMOTED),
        ({"a": 80.0, "b": 100.0}, "a", Reason.PROMOTED),
        ({"a": 80.0, "b": 100.0}, "b", Reason.CLASS_NOT_GAINED),
        ({"a": 100.0, "b": 100.0}, "", Reason.WITHIN_NOISE),
        ({"a": 99.5, "b": 99.5}, "", Reason.WITHIN_NOISE),
        ({"a": 50.0, "b": 105.0}, "", Reason.CLASS_REGRESSED),
        ({"a": 50.0, "b": 105.0}, "a", Reason.CLASS_REGRESSED),
        ({"a": 110.0, "b": 110.0}, "", Reason.SLOWER),
    ],
)
def test_r19_a_class_that_loses_refuses_the_change(after, target, reason):
    assert decide(shown(**after), QUIET, target).reason is reason


def test_a_gain_beside_a_class_that_may_have_lost_is_not_kept():
    pairs = {"a": [(100.0, 50.0)] * 6, "b": [(100.0, 100.0), (100.0, 130.0), (100.0, 80.0)] * 2}
    found = decide(compare(pairs, {"a": "a", "b": "b"}, HARNESS), QUIET)
    assert found.reason is Reason.TOO_FEW_SAMPLES
    assert "a loss of b is not ruled out" in found.sentence


def test_every_gain_names_its_baseline_and_who_measured_it():
    said = decide(shown(a=80.0), QUIET).sentence
    assert "1.25× faster" in said
    assert "against the incumbent" in said
    assert "n=6 pairs" in said
    assert said.endswith("by the project's own harness")


def test_the_score_is_what_the_project_says():
    def gain(score):
        text = ROWS_HARNESS.replace("[files]", f'score = "{score}"\n[files]')
        pairs = {"a": [(100.0, 50.0)] * 6, "b": [(900.0, 900.0)] * 6}
        return compare(pairs, {"a": "a", "b": "b"}, read_harness(text)).score.gain

    assert gain(Score.GEOMEAN) == pytest.approx(2**0.5 - 1)
    assert gain(Score.TOTAL) == pytest.approx(1000 / 950 - 1)
    assert gain(Score.WORST) == 0


def test_r12_noise_is_that_of_the_same_code_beside_itself():
    pairs = {
        "quiet": [(100.0, 100.0)] * 6,
        "loud": [(100.0, 120.0), (100.0, 80.0), (100.0, 110.0)] * 2,
    }
    noise = noise_of(compare(pairs, {"quiet": "quiet", "loud": "loud"}, HARNESS))
    assert noise.of("quiet") == 0.01
    assert noise.of("loud") > 0.05
