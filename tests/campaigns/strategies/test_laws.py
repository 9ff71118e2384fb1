"""What holds of every strategy, whatever it searches."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.strategies.base import SearchTrial, TrialFailure
from campaigns.strategies.registry import DEFAULT, STRATEGIES, strategy_named
from tests.campaigns.strategies.grid import Bowl, GridSpace, search

every = pytest.mark.parametrize("name", STRATEGIES)

VALUES = st.one_of(
    st.lists(st.integers(0, 512), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
    st.lists(st.sampled_from(["-O2", "-O3", "-O3 -ffast-math"]), min_size=1, unique=True),
)
FAILED = SearchTrial(failure=TrialFailure.BUILD_FAILED)


@st.composite
def spaces(draw):
    values = draw(st.lists(VALUES, min_size=1, max_size=3))
    odd = draw(st.integers(1, 5))
    return GridSpace(*values, legal=lambda point: len(str(sorted(point.items()))) % odd == 0)


@st.composite
def answers(draw):
    """Times that depend on the point only; some points fail."""
    salt, fails = draw(st.integers(0, 99)), draw(st.integers(1, 4))

    def trial(point):
        drawn = sum(map(ord, f"{salt}{sorted(point.items())}"))
        return FAILED if drawn % 4 >= fails else SearchTrial(time_us=1.0 + drawn % 97)

    return trial


@every
@settings(max_examples=8, deadline=None)
@given(space=spaces(), trial=answers(), batch=st.integers(3, 20), data=st.data())
def test_it_asks_every_legal_point_once_and_the_seeds_first(name, space, trial, batch, data):
    legal = space.points_at_most(10**6)
    seeds = data.draw(st.lists(st.sampled_from(legal), max_size=5)) if legal else []
    strategy = STRATEGIES[name](space, seed=3, seeds=[*seeds, {"k0": "no such value"}])
    tried = search(strategy, trial, 10**6, batch)
    assert sorted(map(str, tried)) == sorted(map(str, legal))
    first = list({str(seed): seed for seed in seeds}.values())
    assert tried[: len(first)] == first
    assert strategy.ask(1) == []


@every
def test_it_does_not_ask_what_it_was_told(name):
    space = GridSpace(range(4), range(4))
    strategy = STRATEGIES[name](space)
    told = space.points_at_most(7)
    for point in told:
        strategy.tell(point, SearchTrial(time_us=5.0))
    tried = search(strategy, lambda point: SearchTrial(time_us=7.0), 100)
    assert len(tried) == 9
    assert not [point for point in tried if point in told]


@every
def test_it_survives_a_space_whose_every_point_fails(name):
    space = GridSpace(range(5), range(5), ["a", "b"])
    strategy = STRATEGIES[name](space)
    assert len(search(strategy, lambda point: FAILED, 100)) == 50
    assert strategy.expected_gain() == float("inf")


@every
def test_it_gives_the_same_order_for_the_same_seed(name):
    def order(seed):
        space = Bowl(range(9), range(9), range(9), fails=2.2)
        return search(STRATEGIES[name](space, seed), space.trial, 24)

    assert order(1) == order(1)
    assert order(1) != order(2)


@every
def test_it_searches_ten_to_the_twelve_points_without_listing_them(name):
    space = Bowl(*[range(10)] * 12, legal=lambda point: point["k0"] <= point["k1"])
    strategy = STRATEGIES[name](space)
    tracemalloc.start()
    tried = search(strategy, space.trial, 24)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len({str(point) for point in tried}) == 24
    assert peak < 100e6
    assert space.given < 100_000


@every
def test_it_takes_batches_while_others_are_not_told(name):
    space = Bowl(range(8), range(8), range(8))
    strategy = STRATEGIES[name](space)
    waiting = []
    for _ in range(8):
        waiting.append(strategy.ask(4))
        if len(waiting) > 2:
            for point in waiting.pop(0):
                strategy.tell(point, space.trial(point))
    assert len(strategy.pending) == 8
    assert len({str(p) for batch in waiting for p in batch}) == 8


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "random"])
def test_it_finds_more_than_random_draws(name):
    def best_us(which, seed):
        space = Bowl(range(9), range(9), range(9), range(9))
        tried = search(STRATEGIES[which](space, seed), space.trial, 40)
        return min(space.trial(point).time_us for point in tried)

    seeds = range(2)
    assert sum(best_us(name, s) for s in seeds) < sum(best_us("random", s) for s in seeds)


def test_an_unknown_name_is_told_what_is_accepted():
    with pytest.raises(ValueError, match=f"tabu: random, .*{DEFAULT}.* are accepted"):
        strategy_named("tabu")


@pytest.mark.parametrize("facts", [{}, {"time_us": 0.0}, {"time_us": float("nan")}])
def test_a_trial_is_a_time_or_a_failure(facts):
    with pytest.raises(ValueError, match="accepted"):
        SearchTrial(**facts)
    with pytest.raises(ValueError, match="not both"):
        SearchTrial(time_us=1.0, failure=TrialFailure.WRONG)


REFINED = [name for name in STRATEGIES if STRATEGIES[name].refines]


@pytest.mark.parametrize("name", REFINED)
def test_what_is_around_the_best_comes_in_the_next_batch(name):
    space = Bowl(range(5), range(5), ["a", "b", "c"])
    best = {"k0": 2, "k1": 4, "k2": "a"}
    strategy = STRATEGIES[name](space, seeds=[best])
    search(strategy, lambda point: SearchTrial(time_us=1.0 if point == best else 9.0), 1)
    one_step = [{**best, "k0": 1}, {**best, "k0": 3}, {**best, "k1": 3}]
    # A knob without order has no steps: every other value is near.
    one_step += [{**best, "k2": "b"}, {**best, "k2": "c"}]
    first = strategy.ask(10)
    assert first[:5] == one_step
    both = [p for p in first + strategy.ask(16) if sum(p[k] != best[k] for k in best) == 2]
    assert len([p for p in both if p["k0"] in (1, 2, 3) and p["k1"] in (3, 4)]) == 8


@pytest.mark.parametrize("name", REFINED)
def test_it_is_refined_once_all_around_the_best_is_told(name):
    space = Bowl(range(9), range(9))
    strategy = STRATEGIES[name](space, seeds=[{"k0": 4, "k1": 4}])
    search(strategy, space.trial, 1)
    assert not strategy.is_refined
    asked = [point for _ in range(3) for point in strategy.ask(6)]
    *near, last = (p for p in asked if all(3 <= value <= 5 for value in p.values()))
    assert len(near) == 7
    for point in near:
        strategy.tell(point, space.trial(point))
    assert not strategy.is_refined
    strategy.tell(last, space.trial(last))
    assert strategy.is_refined
