"""Two hundred candidates that change nothing and fifty that gain 5 %, each from its first look to
its verdict (UX check 14); the seeds are fixed."""

from __future__ import annotations

import random

import pytest

from campaigns.evaluator.contract import Report
from campaigns.rules.verdict.decide import Judgement, decide
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.gates import Standard
from tests.campaigns.rules.builders import case, report, timing

# Times scatter by so much; a gain is shown from twice that on.
SCATTER, LEAST_GAIN = 0.01, 0.02
PAIRS = 30
RUNS = {0.0: 200, 0.05: 50}
MOST_FALSE, LEAST_FOUND = 10, 48
CLAIMS = ("faster", "Accepted")


def measured(rng: random.Random, gain: float) -> Report:
    def arm(time_us: float):
        return timing([time_us * (1 + rng.gauss(0, SCATTER)) for _ in range(PAIRS)])

    return report(case(arm(100 / (1 + gain)), arm(100.0)))


def judged(gain: float) -> list[Judgement]:
    """A claim of a first session is looked at again in a second one."""
    rng = random.Random(f"check 14, {gain}")
    standard = Standard(has_incumbent=True, noise=LEAST_GAIN, seed=rng.randrange(1 << 30))
    found = []
    for _ in range(RUNS[gain]):
        reports = [measured(rng, gain)]
        first = decide(reports, standard)
        found.append(decide([*reports, measured(rng, gain)], standard) if first.is_claim else first)
    return found


@pytest.fixture(scope="module")
def verdicts():
    return {gain: judged(gain) for gain in RUNS}


def test_what_changes_nothing_is_hardly_ever_accepted_and_a_gain_nearly_always(verdicts):
    accepted = {
        gain: sum(one.decision.verdict is VerdictWord.ACCEPTED for one in found)
        for gain, found in verdicts.items()
    }
    assert accepted[0.0] <= MOST_FALSE
    assert accepted[0.05] >= LEAST_FOUND


def test_no_interval_that_holds_zero_is_told_as_progress(verdicts):
    decisions = [one.decision for found in verdicts.values() for one in found]
    unclear = [one for one in decisions if one.gain.low <= 0 <= one.gain.high]
    assert len(unclear) > 100
    for one in unclear:
        assert one.verdict is not VerdictWord.ACCEPTED
        assert not [word for word in CLAIMS if word in one.sentence], one.sentence
        assert f"n={one.gain.pairs} pairs" in one.sentence
        assert "95%" in one.gain.kind
