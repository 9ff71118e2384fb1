"""A landscape is searched again: its rows answer, and evaluations are counted."""

import math
from random import Random

import pytest

from campaigns.benchmarks.landscapes.landscape import Landscape
from campaigns.benchmarks.landscapes.replay import (
    RecordedSpace,
    ReplayedSearch,
    ReplayLimits,
    replay,
)
from campaigns.strategies.base import TrialFailure
from campaigns.strategies.registry import RandomSampling
from tests.campaigns.benchmarks.landscapes.samples import HEADER, failed, sample_landscape, timed


def test_recorded_points_are_the_legal_ones():
    space = RecordedSpace(sample_landscape())
    first = {"TILE": 16, "SCALE": 0.5, "FLAGS": "-O2", "FAST": False}
    assert (space.size, len(list(space.points_at_most(3)))) == (8, 3)
    assert space.is_legal(first) == ""
    assert space.is_legal({**first, "FAST": True}) == "not recorded"
    assert space.is_legal({}) == "not recorded"
    assert space.trial(first).time_us == 10.25
    assert list(space.neighbours(first)) == [{**first, "TILE": 64}]
    assert space.sample(Random(1)) in list(space.points_at_most(8))
    assert RecordedSpace(Landscape.of(HEADER, [])).sample(Random(1)) is None


def test_evaluations_are_counted_until_a_margin_is_reached():
    found = ReplayedSearch.of([math.inf, 12.0, 13.0, 10.4, 10.0], 10.0)
    assert found.best_us == (math.inf, 12.0, 12.0, 10.4, 10.0)
    assert [found.evaluations_to(m) for m in (0.3, 0.2, 0.05, 0.01)] == [2, 2, 4, 5]
    assert ReplayedSearch.of([12.0], 10.0).evaluations_to(0.05) is None


@pytest.mark.parametrize(("budget", "evaluations"), [(2, 2), (100, 8)])
def test_a_replay_ends_with_its_budget_or_its_space(budget, evaluations):
    rows = [failed(TrialFailure.WRONG, *row.values) for row in sample_landscape().rows()]
    space = RecordedSpace(Landscape.of(HEADER, rows))
    found = replay(space, RandomSampling, 3, ReplayLimits(budget, batch=3))
    assert found.best_us == (math.inf,) * evaluations


def test_a_replay_ends_when_it_is_close_enough():
    space = RecordedSpace(sample_landscape())
    found = replay(space, RandomSampling, 3, ReplayLimits(100, batch=1, margin=0.1))
    assert found.best_us[-1] <= 8.25
    assert all(best > 8.25 for best in found.best_us[:-1])
    assert found.optimum_us == 7.5


def test_failures_are_evaluations():
    rows = [failed(TrialFailure.WRONG, 16, 0.5, "-O2", f) for f in (False, True)]
    rows += [timed(5.0, 32, 0.5, "-O2", False)]
    space = RecordedSpace(Landscape.of(HEADER, rows))
    found = [replay(space, RandomSampling, seed, ReplayLimits(9, batch=1)) for seed in range(20)]
    assert {one.evaluations_to(0) for one in found} == {1, 2, 3}
