"""Whether a candidate is faster on inputs that it has seen."""

from dataclasses import replace

import pytest

from campaigns.evaluator.contract import Repeats
from campaigns.rules.verdict.buckets import Bucket, Declared
from campaigns.rules.verdict.decision import Reason, VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.verdict.repeats import LEAST, repeats
from tests.campaigns.rules.builders import case, report, timing

AGAINST = Standard(has_incumbent=True)
W1 = replace(AGAINST, declared=Declared(Bucket.W1, 30.0, 2000.0))
# Rounds differ by a hundredth here and there, as clocks do.
SPREAD = (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01)


def arm(us=10.0, fresh=100.0, same=100.0, kept=100.0, again=100.0, rounds=8):
    def times(value):
        return tuple(value * spread for spread in SPREAD[:rounds])

    seen = Repeats(1, times(fresh), times(same), times(kept), times(again))
    return replace(timing([us] * 10), repeats=seen)


def judged(candidate, incumbent=None, standard=AGAINST):
    return repeats(report(case(candidate, incumbent or arm())), standard)


def test_r20_it_refuses_a_perfect_cache_of_repeated_tensors():
    found = decide_session(report(case(arm(us=5.0, kept=2.0, again=2.0), arm())), AGAINST)
    assert (found.verdict, found.reason) == (VerdictWord.REJECTED, Reason.FITTED)
    assert "fitted to the benchmark" in found.sentence
    assert "50.00 × as fast as fresh ones (the incumbent 1.00 ×" in found.sentence
    assert "a hit in 8 of 8" in found.sentence


def test_r20_it_holds_against_the_incumbent_and_not_against_one():
    warm = arm(same=80.0, kept=80.0, again=80.0)
    assert judged(warm, warm).reason is None
    assert judged(warm).reason is Reason.FITTED


@pytest.mark.parametrize("pattern", ["same", "kept", "again"])
def test_r20_it_sees_each_way_to_come_again(pattern):
    assert judged(arm(**{pattern: 50.0})).reason is Reason.FITTED
    assert judged(arm(**{pattern: 100.0 / (1 + LEAST / 2)})).reason is None
    assert judged(arm(**{pattern: 150.0})).reason is None


def test_r20_it_needs_rounds_enough_and_more_than_noise():
    few = replace(arm(again=50.0, rounds=4), samples_us=(10.0,) * 10)
    assert judged(few, arm(rounds=4)).reason is None
    assert judged(arm(again=80.0), standard=replace(AGAINST, noise=0.2)).reason is None


def test_r20_a_declared_weight_cache_may_gain_by_weights_alone():
    assert judged(arm(kept=50.0, again=50.0), standard=W1).reason is None
    assert judged(arm(kept=50.0, again=25.0), standard=W1).reason is Reason.FITTED
    assert judged(arm(same=50.0), standard=W1).reason is Reason.FITTED


def test_r20_it_says_where_nothing_was_measured():
    found = repeats(report(case(timing([5.0] * 10), timing([10.0] * 10))), AGAINST)
    assert (found.gate.passed, found.gate.found) == (None, "not measured")
