"""What a call takes at the least, by one alone, on a host whose bursts take ever longer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge import alone
from campaigns.evaluator.judge.alone import NEAR, ROUNDS, TRIES, Alone

IDLE_S, WAKING_S = 150e-6, 70e-6


class Blamed(Exception):
    pass


def least_us(monkeypatch, *, one_us, idle_us=150.0, together_us=1.0):
    """What it makes of bursts of one call and of none that take so long now; and how many."""
    taken = []

    def burst(bench, channel, slots, calls, manner):
        taken.append(calls)
        return one_us * 1e-6

    def blame(outcome, words):
        assert outcome is Outcome.CHEATED
        return Blamed(words)

    monkeypatch.setattr(alone, "run_burst", burst)
    monkeypatch.setattr(alone, "idle_burst", lambda *_, cold: idle_us * 1e-6)
    monkeypatch.setattr(alone, "waking_s", lambda: WAKING_S)
    made = Alone(None, SimpleNamespace(blame=blame), None, IDLE_S)
    return made.least_s(40, together_us * 1e-6) * 1e6, len(taken)


def test_a_call_that_is_no_longer_alone_says_nothing(monkeypatch):
    assert least_us(monkeypatch, one_us=215) == (0, TRIES)
    assert least_us(monkeypatch, one_us=1200, together_us=1000) == (0, TRIES)


def test_what_it_takes_longer_alone_counts_as_its_time(monkeypatch):
    least, taken = least_us(monkeypatch, one_us=270)
    assert least == pytest.approx((270 - 150 - 70) / NEAR)
    assert taken == ROUNDS * TRIES


def test_a_host_that_is_slower_by_now_makes_no_call_longer(monkeypatch):
    assert least_us(monkeypatch, one_us=270, idle_us=210)[0] == 0
    assert least_us(monkeypatch, one_us=300, idle_us=210)[0] == pytest.approx(20 / NEAR)


def test_a_runner_that_is_slow_on_purpose_gains_as_much_again_at_the_most(monkeypatch):
    assert least_us(monkeypatch, one_us=420, idle_us=900)[0] == pytest.approx(50 / NEAR)


def test_a_call_that_is_far_longer_alone_did_not_do_its_work(monkeypatch):
    with pytest.raises(Blamed, match="one alone takes 1350 µs, one of 40 in a burst 200 µs"):
        least_us(monkeypatch, one_us=1500, together_us=200)
