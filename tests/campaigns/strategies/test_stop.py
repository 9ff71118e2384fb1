"""When a search ends, and the sentence that says why."""

import math

import pytest

from campaigns.strategies.base import SearchTrial, StopRule, TrialFailure
from campaigns.strategies.registry import STRATEGIES, RandomSampling
from tests.campaigns.strategies.grid import Bowl, GridSpace, search


def told(times_us):
    strategy = RandomSampling(GridSpace(range(1000)))
    for at, time_us in enumerate(times_us):
        failure = None if time_us else TrialFailure.CRASHED
        strategy.tell({"k0": at}, SearchTrial(time_us=time_us, failure=failure))
    return strategy


def test_nothing_is_known_before_two_times():
    assert told([]).expected_gain() == math.inf
    assert told([5.0, None, None]).expected_gain() == math.inf


def test_more_is_expected_while_times_are_far_apart():
    near = told([100.0, 101.0, 102.0, 103.0, 104.0, 105.0])
    far = told([100.0, 150.0, 200.0, 250.0, 300.0, 350.0])
    assert 0 < near.expected_gain() < far.expected_gain() / 10


def test_less_is_expected_of_one_more_after_many():
    few, many = (told([100.0 + at % 50 for at in range(n)]) for n in (50, 400))
    assert many.expected_gain() < few.expected_gain() / 4


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_search_that_has_found_the_best_ends(name):
    space = Bowl(range(9), range(9), range(9))
    strategy, rule = STRATEGIES[name](space, seed=1), StopRule(729, least_gain=0.002)
    while not (reason := rule.reason(strategy)):
        search(strategy, space.trial, 8)
    assert reason.endswith("less than 0.20%.")
    assert 32 <= len(strategy.told) < 200


def test_the_budget_ends_a_search():
    strategy = told([100.0, 50.0])
    assert StopRule(2).reason(strategy) == "All 2 trials of the budget were made."
    assert StopRule(3, most_s=60).reason(strategy, 60.5) == "The 60 s of the budget are spent."
    assert StopRule(3, most_s=60).reason(strategy, 59.0) == ""


def test_a_search_goes_on_while_it_has_tried_little():
    strategy = told([100.0] * 20)
    assert StopRule(100, least_trials=21).reason(strategy) == ""
    assert "After 20 trials" in StopRule(100, least_trials=20).reason(strategy)


def test_no_small_gain_ends_a_search_whose_best_is_not_refined():
    rule = StopRule(1000, least_trials=20, least_gain=0.5)
    strategy = STRATEGIES["annealing"](GridSpace(range(1000)))
    for at in range(20):
        strategy.tell({"k0": at * 10}, SearchTrial(time_us=100.0 + at))
    assert rule.reason(strategy) == ""
    strategy.tell({"k0": 1}, SearchTrial(time_us=100.0))
    assert rule.reason(strategy).startswith("After 21 trials")
