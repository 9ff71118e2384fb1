"""What voids a measurement and what does not (R7, R11; law 5)."""

import math
import random
from dataclasses import replace
from itertools import combinations

import pytest

from campaigns.evaluator.contract import Moment, Report, Timer
from campaigns.rules.noise import drift
from campaigns.rules.noise.drift import (
    Allowance,
    Change,
    What,
    allowance,
    drifts,
    rank_chance,
    step_in,
    undecided_by,
)
from tests.campaigns.rules.builders import case, report, timing

BLOCKS, SAMPLES = 5, 10
STEADY_US = (34.3, 34.5, 34.2, 34.4, 34.3, 34.6, 34.2, 34.5, 34.4, 34.3)
MOVED_US = (*STEADY_US[:6], *(1.12 * value for value in STEADY_US[6:]))


def moments(**columns):
    """One moment before the first block and one after each; a column lists what changes."""
    return tuple(
        Moment("4096x4096", block, **{name: values[block] for name, values in columns.items()})
        for block in range(BLOCKS + 1)
    )


def measured(incumbent=STEADY_US, candidate=STEADY_US, timer=Timer.GRAPH, seen=()):
    arms = case(timing(candidate, timer=timer), timing(incumbent, timer=timer))
    return replace(report(arms), surroundings=seen)


def found(measurement: Report, allowed: Allowance | None = None):
    return [one.what for one in drifts(measurement, lambda case: allowed or Allowance())]


def after(block, before, then):
    """A column that changes after so many blocks."""
    return [then if index > block else before for index in range(BLOCKS + 1)]


def test_it_lets_a_steady_measurement_stand():
    seen = moments(clock_mhz=[1980.0] * 6, others=[0.0] * 6, throttled=[()] * 6)
    assert found(measured(seen=seen)) == []


def test_it_voids_when_the_incumbents_times_move_to_another_level_and_says_how_far():
    (one,) = drifts(measured(MOVED_US), lambda case: Allowance())
    assert one.what is What.TIMES
    assert str(one) == (
        "4096x4096: the incumbent's own times moved (34.3 µs to 38.5 µs after 6 of 10 samples, "
        "+12.0 %; allowed: 5 %)"
    )
    assert found(measured(tuple(reversed(MOVED_US)))) == [What.TIMES]


def test_it_never_asks_the_candidates_times():
    assert found(measured(candidate=MOVED_US)) == []


@pytest.mark.parametrize(
    "times",
    [
        # One slow start, one outlier, a dip that passes: the paired median stands.
        (70.0, *STEADY_US[1:]),
        (*STEADY_US[:5], 340.0, *STEADY_US[6:]),
        (*STEADY_US[:4], 50.0, 50.0, *STEADY_US[6:]),
        # A move that is real but smaller than anything that matters.
        (*STEADY_US[:5], *(1.03 * value for value in STEADY_US[5:])),
        # A screening: too few samples to tell a move from chance.
        (*STEADY_US[:3], *(2 * value for value in STEADY_US[3:6])),
    ],
    ids=["warm-up", "outlier", "dip", "small", "few"],
)
def test_it_lets_what_interleaving_and_median_cancel_stand(times):
    assert found(measured(times, times)) == []


def test_it_allows_more_where_a_device_is_that_noisy_against_itself():
    assert found(measured(MOVED_US), allowance(spread=0.01)) == [What.TIMES]
    assert found(measured(MOVED_US), allowance(spread=0.05)) == []


def test_it_voids_when_the_clock_falls_after_the_first_block():
    falls = moments(clock_mhz=after(2, 1980.0, 1755.0))
    (one,) = drifts(measured(seen=falls), lambda case: Allowance())
    assert str(one) == "4096x4096: the clock fell (1,980 to 1,755 MHz, 11.4 %; allowed: 5 %)"
    # Before the first block nothing has run, and a clock may be asleep or up.
    assert found(measured(seen=moments(clock_mhz=after(0, 345.0, 1755.0)))) == []
    assert found(measured(seen=moments(clock_mhz=after(0, 1980.0, 1755.0)))) == []
    assert found(measured(seen=falls), allowance(0.0, Change(clock_fall=0.08))) == []


def test_it_voids_when_heat_holds_the_clock_down_but_not_for_a_power_cap():
    hot = moments(throttled=after(3, (), ("heat (software)",)))
    assert found(measured(seen=hot)) == [What.THROTTLED]
    assert found(measured(seen=moments(throttled=after(3, (), ("power cap",))))) == []
    usual = allowance(0.0, throttled=frozenset({"heat (software)"}))
    assert found(measured(seen=hot), usual) == []


def test_it_voids_when_a_neighbour_begins_to_compute_on_the_gpu():
    assert found(measured(seen=moments(others=after(2, 0.0, 1.0)))) == [What.NEIGHBOUR]
    assert found(measured(seen=moments(others=[1.0] * 6))) == []
    # On a CPU it is a number of CPUs, and every host does something.
    shared = measured(timer=Timer.CALLS, seen=moments(others=after(2, 0.0, 1.0)))
    assert found(shared) == []


@pytest.mark.parametrize(
    "column",
    [
        {"others": after(2, 0.1, 1.2)},
        {"stolen": after(2, 0.0, 0.3)},
        {"pressure": after(2, 0.1, 0.9)},
    ],
    ids=["others", "stolen", "pressure"],
)
def test_it_voids_on_a_host_that_got_busier_only_if_the_times_rose_with_it(column):
    # Noisy, so that the times alone do not show it.
    rising = (30.0, 38.0, 31.0, 44.0, 33.0, 37.0, 45.0, 36.0, 47.0, 44.0)
    busier = measured(rising, timer=Timer.CALLS, seen=moments(**column))
    assert found(replace(busier, surroundings=())) == []
    assert found(busier) == [What.HOST]
    falling = tuple(reversed(rising))
    assert found(measured(falling, timer=Timer.CALLS, seen=moments(**column))) == []
    assert found(measured(timer=Timer.CALLS, seen=moments(**column))) == []
    usual = allowance(0.0, Change(others=0.6, stolen=0.2, pressure=0.5))
    assert found(busier, usual) == []


# A candidate that waits for a CPU on which others work, beside an incumbent that does not notice.
LATE_US = (107.0, 101.0, 110.0, 99.0, 104.0, 108.0, 100.0, 103.0, 109.0, 102.0)


@pytest.mark.parametrize("column", [{"others": 0.6}, {"stolen": 0.3}], ids=str)
@pytest.mark.parametrize(
    "times", [(STEADY_US, STEADY_US), (MOVED_US, STEADY_US), (STEADY_US, LATE_US)]
)
def test_it_voids_on_a_crowded_host_whatever_the_times_are(column, times):
    seen = moments(**{name: [value] * 6 for name, value in column.items()})
    loaded = replace(measured(*times, Timer.CALLS, seen), environment={"cores": "2"})
    (one,) = drifts(loaded, lambda case: Allowance())
    assert str(one) == (
        "4096x4096: others kept the host busy (they had 30 % of its CPUs; allowed: less than 25 %)"
    )
    # The same load is nothing to a large host or a GPU, nor a little of it to any host.
    if "others" in column:
        large = replace(loaded, environment={"cores": "64"})
        assert What.LOAD not in found(large)
    assert What.LOAD not in found(measured(*times, seen=seen))
    little = moments(**{name: [0.5 * value] * 6 for name, value in column.items()})
    assert What.LOAD not in found(replace(loaded, surroundings=little))


def test_what_is_undecided_is_void_only_by_the_incumbents_own_noise():
    """A candidate cannot have itself measured again."""
    noisy = tuple(us * (1.2 if n % 3 else 0.8) for n, us in enumerate(STEADY_US))
    (one,) = undecided_by(measured(noisy, STEADY_US), 0.01)
    assert one.what is What.UNDECIDED
    assert str(one).startswith(
        "all cases: the incumbent's own times scattered so much that nothing"
    )
    assert undecided_by(measured(STEADY_US, noisy), 0.01) == ()
    assert undecided_by(measured(noisy, STEADY_US), 0.5) == ()


def test_it_says_nothing_about_what_was_not_timed():
    assert drifts(report(case()), lambda case: Allowance()) == ()


@pytest.mark.parametrize("sides", [(3, 7), (5, 5), (4, 3)])
def test_its_chance_is_that_of_every_order_counted_out(sides):
    first, last = sides
    values = range(first + last)
    orders = [
        sum(b > a for a in chosen for b in values if b not in chosen)
        for chosen in combinations(values, first)
    ]
    for swaps in range(4):
        fair = 2 * sum(above <= swaps for above in orders) / len(orders)
        low = [float(v) for v in range(first)]
        high = [float(v) for v in range(first, first + last)]
        # Lift the largest of the first side above so many of the last.
        low[-1] = high[swaps - 1] + 0.5 if swaps else low[-1]
        if swaps <= last:
            assert rank_chance(low, high) == pytest.approx(fair)


def noises(rng):
    """Stationary noise of many kinds: the time of one sample in µs."""

    def student(scale):
        return 100 * math.exp(
            scale * max(-30, min(30, rng.gauss(0, 1) / math.sqrt(rng.expovariate(1))))
        )

    return {
        "idle GPU": lambda: 100 * math.exp(rng.gauss(0, 0.005)),
        "quiet CPU": lambda: 100 * math.exp(rng.gauss(0, 0.02)),
        "busy CPU": lambda: 100 * math.exp(rng.gauss(0, 0.3)),
        "heavy tails": lambda: student(0.01),
        "heavier tails": lambda: student(0.1),
        "rare spikes": lambda: 100 + (rng.paretovariate(1.1) * 30 if rng.random() < 0.2 else 0),
        "no variance": lambda: 100 * rng.paretovariate(1.5),
        "two levels": lambda: rng.choice((100, 140)) * math.exp(rng.gauss(0, 0.01)),
    }


@pytest.mark.parametrize("kind", noises(random.Random(0)))
def test_it_seldom_voids_stationary_noise_whatever_its_tails(kind):
    """At most 1 in 14 on a host without a passport, 1 in 100 where the noise is small."""
    draw = noises(random.Random(20))[kind]
    runs = 1500
    void = sum(
        step_in([draw() for _ in range(SAMPLES)], drift.LEAST_SHIFT) is not None
        for _ in range(runs)
    )
    small = kind in ("idle GPU", "quiet CPU", "heavy tails")
    assert void <= runs * (0.01 if small else 0.07)


@pytest.mark.parametrize(
    ("noise", "size", "least"), [(0.005, 0.08, 0.99), (0.02, 0.15, 0.97), (0.05, 0.3, 0.97)]
)
@pytest.mark.parametrize("at", range(drift.LEAST_SIDE, SAMPLES - drift.LEAST_SIDE + 1))
def test_it_finds_a_real_step_wherever_it_lies(noise, size, least, at):
    rng, runs = random.Random(at), 200
    hits = 0
    for _ in range(runs):
        times = [100 * math.exp(rng.gauss(0, noise)) for _ in range(SAMPLES)]
        times = [value * (1 + size * (index >= at)) for index, value in enumerate(times)]
        step = step_in(times, drift.LEAST_SHIFT)
        hits += step is not None and step.shift > 0
    assert hits >= least * runs


def test_it_finds_a_slow_heating_up():
    rng, runs = random.Random(5), 200
    ramps = (
        [100 * math.exp(rng.gauss(0, 0.005)) * (1 + 0.2 * i / 9) for i in range(SAMPLES)]
        for _ in range(runs)
    )
    hits = sum(step_in(times, drift.LEAST_SHIFT) is not None for times in ramps)
    assert hits >= 0.97 * runs
