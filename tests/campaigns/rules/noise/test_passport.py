"""What a passport says of a device's noise, and when it no longer holds (R11, R12)."""

import random
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from campaigns.evaluator.contract import Moment
from campaigns.rules.noise.passport import (
    Conditions,
    Length,
    age_words,
    allowed_by,
    conditions_of,
    differences,
    failures,
    fit,
    lengths_of,
    noisy,
    told,
)
from tests.campaigns.rules.builders import case, report, timing

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
GOOD = Length("add 2048", 34.0, 0.01, 0.001, -0.002, 0.004, 0.003, 12, 12, 40)


def session(rng, noise=0.01, ahead=0.0, names=("short", "long")):
    """One A/A session of ten pairs at 10 and 1,000 µs; ahead: by how much the candidate wins."""
    cases = []
    for name, base in zip(names, (10.0, 1000.0), strict=True):
        old = [base * (1 + rng.gauss(0, noise)) for _ in range(10)]
        new = [base / (1 + ahead) * (1 + rng.gauss(0, noise)) for _ in range(10)]
        cases.append(case(timing(new), timing(old), name=name))
    return report(*cases)


def sessions(count=4, seed=1, **more):
    rng = random.Random(seed)
    return [session(rng, **more) for _ in range(count)]


def test_it_sums_up_each_length_shortest_first():
    short, long = lengths_of(sessions(), seed=7)
    assert (short.kernel, long.kernel) == ("short", "long")
    assert short.time_us == pytest.approx(10, rel=0.01)
    assert (short.sessions, short.pairs) == (4, 40)
    # Ten pairs at 1 % each: the median of ten ratios strays by about 0.6 %.
    assert 0.003 < short.sigma < 0.012
    assert short.floor == max(0.01, 2 * short.sigma)
    assert 0.008 < short.spread < 0.018
    assert short.low <= short.gain <= short.high


def test_it_finds_a_true_a_a_good_and_one_arm_that_is_favoured_not():
    assert failures(lengths_of(sessions(), 7), Conditions()) == ()
    found = failures(lengths_of(sessions(ahead=0.03), 7), Conditions())
    assert any("short compared with itself shows 1.03" in words for words in found)
    # So few intervals hold zero then, too.
    assert any("of 8 intervals contain zero" in words for words in found)


def test_it_takes_a_bias_too_small_to_be_a_gain_for_none():
    tiny = replace(GOOD, gain=0.004, low=0.001, high=0.007)
    assert failures([tiny], Conditions()) == ()
    large = replace(tiny, gain=0.008, low=0.004, high=0.012)
    assert failures([large], Conditions()) != ()
    assert failures([replace(large, gain=-0.008, low=-0.012, high=-0.004)], Conditions()) != ()
    assert failures([replace(large, low=0.001)], Conditions()) == ()


def test_it_names_throttling_and_devices_that_do_not_hold_still():
    hot = Conditions(throttled=("heat (hardware)", "power cap"))
    assert failures([GOOD], hot) == ("the clock was throttled: heat (hardware)",)
    (words,) = failures([replace(GOOD, moved=7)], Conditions())
    assert words == "in 7 of 12 sessions the times moved to another level"
    assert failures([replace(GOOD, moved=6)], Conditions()) == ()


@pytest.mark.parametrize(("covered", "good"), [(12, True), (9, True), (8, False), (0, False)])
def test_it_doubts_intervals_that_miss_too_often(covered, good):
    found = failures([replace(GOOD, covered=covered)], Conditions())
    assert (found == ()) is good


@pytest.mark.parametrize(("taken", "most"), [(40, 2), pytest.param(200, 6, marks=pytest.mark.long)])
def test_it_fails_few_good_devices_by_chance(taken, most):
    """A/A of an honest device: of 200 passports at most 6 fail."""
    bad = sum(bool(failures(lengths_of(sessions(seed=n), n), Conditions())) for n in range(taken))
    assert bad <= most, bad


def test_it_keeps_the_extremes_of_the_surroundings_and_how_far_they_changed():
    (one,) = sessions(1)
    seen = tuple(
        Moment("short", block, clock_mhz=clock, others=0.5 * block, throttled=reasons)
        for block, clock, reasons in [(0, 345.0, ()), (1, 1980.0, ()), (2, 1881.0, ("power cap",))]
    )
    found = conditions_of([replace(one, surroundings=seen)])
    assert (found.clock_mhz.low, found.clock_mhz.high) == (345.0, 1981.0 - 1)
    assert found.temperature_c is None
    assert found.throttled == ("power cap",)
    assert found.changed.clock_fall == pytest.approx(0.05)
    assert found.changed.others == pytest.approx(0.5)
    assert msgspec.convert(asdict(found), Conditions) == found


def test_it_reads_back_a_stored_length():
    assert msgspec.convert(asdict(GOOD), Length) == GOOD


@pytest.mark.parametrize(("sigma", "is_noisy"), [(0.025, False), (0.0251, True), (0.3, True)])
def test_it_calls_noisy_what_can_not_tell_a_success(sigma, is_noisy):
    """A crowded host shows no fault of its own, only a floor that nothing gets above."""
    crowded = replace(GOOD, sigma=sigma, spread=10 * sigma)
    assert failures([crowded], Conditions()) == ()
    assert bool(noisy([GOOD, crowded])) is is_noisy


def test_it_says_how_little_can_be_told():
    (words,) = noisy([GOOD, replace(GOOD, time_us=5.0, sigma=0.3)])
    assert words == "for kernels of about 5.00 µs the noise floor is 60 %"


LENGTHS = [
    replace(GOOD, time_us=us, sigma=s) for us, s in [(5.0, 0.02), (50.0, 0.01), (800.0, 0.004)]
]


@pytest.mark.parametrize(
    ("time_us", "words", "sigma"),
    [
        (1.2, None, None),
        (1.3, "5.00 µs", 0.02),
        (10.0, "5.00 µs and 50.0 µs", 0.02),
        (50.0, "50.0 µs and 800 µs", 0.01),
        (32_000.0, "800 µs", 0.004),
        (33_000.0, None, None),
    ],
)
def test_it_fits_a_kernel_between_lengths_and_takes_the_noisier(time_us, words, sigma):
    found = fit(reversed(LENGTHS), time_us)
    assert (told(found), found.sigma) == (words, sigma) if words else found is None
    assert fit([], time_us) is None


def test_it_allows_a_measurement_three_times_its_own_spread():
    found = fit([replace(GOOD, spread=0.04)], 34.0)
    assert allowed_by(found, Conditions(throttled=("heat (software)",))).shift == pytest.approx(
        0.12
    )
    assert allowed_by(fit([GOOD], 34.0), Conditions()).shift == 0.05


def test_it_says_how_old_it_is_and_what_has_changed():
    assert age_words(NOW - timedelta(days=7), NOW) == ()
    assert age_words(NOW - timedelta(days=9), NOW) == ("it is 9 days old; at most 7 are allowed",)
    then, now = {"driver": "580.1", "host": "a"}, {"driver": "590.2", "host": "a", "governor": "x"}
    assert differences(then, now) == (
        "driver was 580.1 and is 590.2",
        "governor was unknown and is x",
    )
    assert differences(now, now) == ()
