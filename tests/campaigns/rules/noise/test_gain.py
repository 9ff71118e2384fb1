import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.contract.intervals import _median_chances
from campaigns.rules.noise.gain import geomean, improved, interval, noise_floor, regressed
from knowledge.experience.terms import SUCCESS

TIMES = st.floats(min_value=1e-3, max_value=1e6)
PAIRS = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=20),
    min_size=1,
    max_size=5,
)


def noisy(rng: random.Random, gain: float, cv: float, pairs: int, cases: int = 1):
    """Pairs of incumbent and candidate times with a true gain and this much noise on each arm."""
    return {
        f"case {index}": [
            (100 * rng.gauss(1, cv), 100 / (1 + gain) * rng.gauss(1, cv)) for _ in range(pairs)
        ]
        for index in range(cases)
    }


@given(PAIRS, st.integers(0, 2**32))
def test_it_keeps_the_gain_inside_its_interval(pairs, seed):
    found = interval(pairs, seed)
    assert found.low <= found.gain <= found.high
    assert found.pairs == min(map(len, pairs.values()))


@given(PAIRS)
def test_it_sees_no_gain_in_a_kernel_against_itself(pairs):
    same = {case: [(old, old) for old, _ in values] for case, values in pairs.items()}
    found = interval(same, 1)
    assert found.gain == found.low == found.high == pytest.approx(0, abs=1e-12)
    assert not improved(found, noise_floor(0))


def test_it_is_the_geometric_mean_of_median_ratios():
    twice = [(20.0, 10.0)] * 4 + [(500.0, 10.0)]
    eightfold = [(80.0, 10.0)] * 5
    found = interval({"a": twice, "b": eightfold}, seed=0)
    assert found.gain == pytest.approx(3.0)
    assert found.kind == "95% bootstrap of the geometric-mean ratio"


def test_it_gives_the_same_interval_for_the_same_seed():
    pairs = noisy(random.Random(3), 0.05, 0.01, 10, cases=3)
    assert interval(pairs, 7) == interval(dict(reversed(pairs.items())), 7)
    assert interval(pairs, 7) != interval(pairs, 8)


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_it_draws_medians_as_resampling_would(n):
    rng = random.Random(5)
    drawn = 20_000
    expected = [0.0] * (2 * n)
    for _ in range(drawn):
        indexes = sorted(rng.choices(range(n), k=n))
        expected[indexes[(n - 1) // 2] + indexes[n // 2]] += 1 / drawn
    known = [0.0] * (2 * n)
    for i, j, chance in _median_chances(n):
        known[i + j] += chance
    assert sum(known) == pytest.approx(1)
    assert known == pytest.approx(expected, abs=0.015)


def test_r11_it_almost_never_accepts_the_same_kernel_twice():
    rng = random.Random(11)
    runs = [interval(noisy(rng, 0.0, 0.01, 30), seed) for seed in range(200)]
    assert sum(improved(run, noise_floor(0.01)) for run in runs) <= 10
    assert not any(run.gain >= SUCCESS for run in runs)


def test_r11_it_finds_a_true_gain_of_five_percent():
    rng = random.Random(12)
    runs = [interval(noisy(rng, 0.05, 0.01, 30), seed) for seed in range(50)]
    assert sum(improved(run, noise_floor(0.01)) for run in runs) >= 48


def test_it_finds_a_true_loss():
    found = interval(noisy(random.Random(1), -0.05, 0.005, 20), 0)
    assert regressed(found, 0.01)
    assert not improved(found, 0.01)


@pytest.mark.parametrize(("sigma", "floor"), [(0, 0.01), (0.004, 0.01), (0.02, 0.04)])
def test_r12_it_takes_the_noise_floor(sigma, floor):
    assert noise_floor(sigma) == pytest.approx(floor)


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_it_refuses_an_impossible_deviation(sigma):
    with pytest.raises(ValueError, match="sigma_aa"):
        noise_floor(sigma)


def test_r47_it_keeps_the_earliest_round_within_noise_as_the_incumbent():
    # Requirements §7: a CUDA softmax chain in ms; the least mean is the last, the choice is v2.
    chain = [3.4769, 0.4516, 0.2967, 0.3018, 0.2961, 0.2960]
    best = 0
    for index in range(1, len(chain)):
        if improved(interval({"c": [(chain[best], chain[index])] * 5}, 0), 0.01):
            best = index
    assert best == 2


def test_r14_it_averages_ratios_geometrically():
    # Requirements §7: combined steps of three shapes against a baseline of 168.59.
    assert geomean([192.000, 182.520, 174.000]) == pytest.approx(182.692, abs=1e-3)
    assert geomean([192.000, 182.520, 174.000]) / 168.59 - 1 == pytest.approx(0.08365, abs=1e-5)
    with pytest.raises(ValueError, match="at least one"):
        geomean([])


@pytest.mark.parametrize("pairs", [{}, {"a": []}, {"a": [(1.0, 0.0)]}, {"a": [(1.0, -1.0)]}])
def test_it_refuses_pairs_that_are_no_times(pairs):
    with pytest.raises(ValueError, match=r"at least one|above zero"):
        interval(pairs, 0)
