"""A kernel measured again: noise, method, hardware or real, each with a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.rules.noise.gain import Gain
from campaigns.rules.noise.series import (
    Changed,
    SeriesSession,
    SeriesSort,
    changed_words,
    changes,
    sort_session,
)

ENVIRONMENT = {
    "driver": "570.1",
    "compiler": "triton 3.6.0",
    "torch": "2.12",
    "kopt": "0.1.0 (a)",
    "protocol": "abc",
    "clock policy": "default",
    "card": "GPU-1",
}


def gain(value: float, reach: float = 0.02) -> Gain:
    return Gain(value, value - reach, value + reach, 10)


BEFORE = SeriesSession(gain(2.35), 335.0, 100.0, 0.01, "a passport", ENVIRONMENT)


def after(
    value: float = 2.35, scale: float = 1.0, reach: float = 0.02, **environment: str
) -> SeriesSession:
    """v0 and the kernel at `scale` times the time, and this gain."""
    kernel = 335.0 / (1 + value)
    return replace(
        BEFORE,
        gain=gain(value, reach),
        v0_us=335.0 * scale,
        kernel_us=kernel * scale,
        environment=ENVIRONMENT | environment,
    )


@pytest.mark.parametrize(
    ("now", "sort", "said"),
    [
        (after(), "noise", "The gain holds: it was"),
        (after(2.33), "noise", "is 3.33× faster"),
        # The intervals overlap.
        (after(1.9, reach=0.5), "noise", "The gain holds"),
        # They lie apart, by less than the noise floor.
        (replace(after(2.30), floor=0.05), "noise", "The gain holds"),
        (after(2.35, compiler="triton 3.7.1"), "noise", "after triton 3.6.0 → 3.7.1"),
        # Times may differ a little from day to day.
        (after(2.35, 1.03, driver="580.1"), "noise", "after driver 570.1 → 580.1"),
        (after(2.35, 1.2, kopt="0.1.0 (b)"), "method", "kopt 0.1.0 (a) → (b)"),
        (after(2.35, 0.8, protocol="def"), "method", "v0 335 µs → 268 µs, -20.0 %"),
        (after(2.35, 1.2, driver="580.1"), "hardware", "after driver 570.1 → 580.1"),
        (after(2.35, 1.2, **{"clock policy": "1,200 MHz"}), "hardware", "clock policy default → "),
        (after(2.35, 1.2, card="GPU-2"), "hardware", "on another card"),
        (after(2.35, 1.2), "hardware", "nothing on record changed"),
        # What measures has changed, so nothing is said of what it runs on.
        (after(2.35, 1.2, driver="580.1", kopt="0.2"), "method", "driver 570.1 → 580.1"),
        (after(2.35, 0.8, compiler="triton 3.7.1"), "real", "both moved alike"),
        (after(1.9, compiler="triton 3.7.1"), "real", "is less: it was 3.35× faster"),
        (after(2.9, compiler="triton 3.7.1"), "real", "is more"),
        (after(1.9), "real", "nothing on record changed"),
        # Also where the method changed: the gain is paired, and does not depend on it.
        (after(1.9, 1.2, kopt="0.1.0 (b)"), "real", "after kopt 0.1.0 (a) → (b)"),
        # It has become slower than v0.
        (after(-0.1, compiler="triton 3.7.1"), "real", "slower"),
    ],
)
def test_it_sorts(now: SeriesSession, sort: str, said: str) -> None:
    found = sort_session(BEFORE, now)
    assert found.sort == sort, found
    assert said in found.sentence
    assert "n=10 pairs" in found.sentence or "both moved alike" in found.sentence
    assert found.sort.asks == (sort != "noise")


def test_it_says_both_gains_with_their_baseline_interval_and_count_and_what_changed() -> None:
    found = sort_session(BEFORE, after(1.9, compiler="triton 3.7.1"))
    assert found.sentence == (
        "The gain is less: it was 3.35× faster [3.33, 3.37] against v0 (n=10 pairs), is 2.90× "
        "faster [2.88, 2.92] against v0 (n=10 pairs) after triton 3.6.0 → 3.7.1."
    )
    assert found.changed == (Changed("compiler", "triton 3.6.0", "triton 3.7.1"),)


@pytest.mark.parametrize("before", [None, replace(BEFORE, gain=None, said="crashed")])
def test_the_first_of_a_series_is_compared_with_nothing(before: SeriesSession | None) -> None:
    found = sort_session(before, after())
    assert (found.sort, found.sort.asks) == (SeriesSort.FIRST, False)
    assert "3.35× faster" in found.sentence


def test_what_no_longer_passes_is_real() -> None:
    broken = replace(after(compiler="triton 3.7.1"), gain=None, said="Rejected: wrong result.")
    found = sort_session(BEFORE, broken)
    assert found.sort == SeriesSort.REAL
    assert found.sentence.startswith("It no longer passes after triton 3.6.0 → 3.7.1: Rejected: ")
    assert sort_session(None, broken).sort == SeriesSort.REAL


def test_arms_that_were_not_timed_say_nothing_of_the_host() -> None:
    old = replace(BEFORE, v0_us=None, kernel_us=None)
    assert sort_session(old, after(2.35, 2.0, driver="580.1")).sort == SeriesSort.NOISE


def test_what_is_unknown_on_one_side_is_no_change() -> None:
    assert changes({"driver": "", "kopt": "1"}, {"driver": "580", "kopt": "1", "torch": "2"}) == []
    found = changes({"driver": "1", "kopt": "1"}, {"driver": "2", "kopt": "2"}, ["kopt"])
    assert changed_words(found) == "kopt 1 → 2"
