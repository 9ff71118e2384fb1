"""Probed bursts find calls out of order, longer alone, or wrong among others."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.layout import TensorArg
from campaigns.evaluator.judge.timing import mid_burst_probe
from campaigns.evaluator.judge.timing.mid_burst_probe import ALONE_TRIES, NEAR, ODD, MidBurstProbe
from campaigns.evaluator.judge.timing.overhead import Growth, Overhead
from campaigns.evaluator.judge.timing.probed_burst import (
    UNDER_WAY,
    ProbedBurst,
    ProbeReading,
    share_passed,
)
from tests.evaluator.small import source


@pytest.mark.parametrize(
    ("glance", "odd"),
    [
        pytest.param(ProbeReading(0.5, 0, 0.5), False, id="even"),
        pytest.param(ProbeReading(0.19, 0, 0.48), False, id="behind on a busy host"),
        pytest.param(ProbeReading(0.0, 0, None), False, id="too short to say"),
        pytest.param(ProbeReading(0.0, 0, None, 4e-4), False, id="too early in a short burst"),
        pytest.param(ProbeReading(0.0, 0, None, 6e-4), True, id="nothing in most of a short burst"),
        pytest.param(ProbeReading(0.1, 0, None, 6e-4), False, id="something in a short burst"),
        pytest.param(ProbeReading(0.0, 0, 0.5), True, id="nothing to show"),
        pytest.param(ProbeReading(0.06, 0, 0.7), True, id="only the first calls"),
        pytest.param(ProbeReading(0.9, UNDER_WAY, 0.6), False, id="one under way"),
        pytest.param(ProbeReading(0.9, UNDER_WAY + 1, 0.6), True, id="several under way"),
    ],
)
def test_it_finds_odd_what_no_honest_burst_shows(glance, odd):
    assert glance.odd is odd


def test_it_leaves_out_the_time_to_wake_the_runner():
    assert share_passed(at_s=0.006, seconds=0.010) == pytest.approx(0.5)
    assert share_passed(at_s=0.002, seconds=0.010) is None
    assert share_passed(at_s=0.002, seconds=0.003) is None


WAKING_S = 70e-6
OVERHEAD = Overhead(cold_s=200e-6, warm_s=150e-6, growth=Growth(), awake_s=50e-6)


class Blamed(Exception):
    pass


def least_us(monkeypatch, *, one_us, idle_us=150.0, together_us=1.0, awake_us=2000.0):
    """What it makes of bursts of one call and of none that take so long now; and how many."""
    taken = []

    def burst(lane, calls, options):
        taken.append(calls)
        return one_us * 1e-6

    def blame(outcome, words):
        assert outcome is Outcome.CHEATED
        return Blamed(words)

    monkeypatch.setattr(mid_burst_probe, "run_burst", burst)
    monkeypatch.setattr(mid_burst_probe, "call_awake", lambda *_: awake_us * 1e-6)
    monkeypatch.setattr(mid_burst_probe, "idle_burst", lambda *_, cold: idle_us * 1e-6)
    monkeypatch.setattr(mid_burst_probe, "waking_s", lambda: WAKING_S)
    slots = SimpleNamespace(layout=SimpleNamespace(outputs=()))
    channel = SimpleNamespace(blame=blame)
    lane = SimpleNamespace(context=None, channel=channel, slots=slots)
    made = MidBurstProbe(lane, None, OVERHEAD)
    made.calls = 40
    return made.least_s(together_us * 1e-6) * 1e6, len(taken)


def test_a_call_that_is_no_longer_alone_says_nothing(monkeypatch):
    assert least_us(monkeypatch, one_us=215) == (0, 1)
    assert least_us(monkeypatch, one_us=1200, together_us=1000) == (0, 1)


def test_a_call_that_is_only_slow_to_wake_says_nothing(monkeypatch):
    assert least_us(monkeypatch, one_us=1500, together_us=200, awake_us=300) == (0, 1)


def test_what_it_takes_longer_alone_counts_as_its_time(monkeypatch):
    least, taken = least_us(monkeypatch, one_us=270)
    assert least == pytest.approx((270 - 150 - 70) / NEAR)
    assert taken == ALONE_TRIES


def test_a_host_that_is_slower_by_now_makes_no_call_longer(monkeypatch):
    assert least_us(monkeypatch, one_us=270, idle_us=210)[0] == 0
    assert least_us(monkeypatch, one_us=300, idle_us=210)[0] == pytest.approx(20 / NEAR)


def test_a_runner_that_is_slow_on_purpose_gains_as_much_again_at_the_most(monkeypatch):
    assert least_us(monkeypatch, one_us=420, idle_us=900)[0] == pytest.approx(50 / NEAR)


def test_a_call_that_is_far_longer_alone_did_not_do_its_work(monkeypatch):
    with pytest.raises(Blamed, match="one alone takes 1350 µs, one of 40 in a burst 200 µs"):
        least_us(monkeypatch, one_us=1500, together_us=200)


CALLS = 8
OUTPUT = TensorArg("y", "float32", (64,), 0, output=True)


def seen_halfway(*written):
    """What one probed burst shows in which these calls, by their turn, have been written."""
    view = torch.zeros(CALLS, 64)
    draw = random.Random(1)
    supply = SimpleNamespace(generator=torch.Generator(), shuffled=lambda items: list(items))
    context = SimpleNamespace(device=torch.device("cpu"), supply=supply, wait=lambda: None)
    order = tuple(draw.sample(range(CALLS), CALLS))
    timed = SimpleNamespace(all=lambda arg: view)
    prepared = SimpleNamespace(context=context, calls=CALLS, order=order, timed=timed, truth=None)
    probed = ProbedBurst((), OUTPUT, 0.0)
    probed.prepare(prepared)
    for turn in written:
        view[order[turn]] = 1
    probed.during(0.0)
    return probed.glance(1e-3)


def test_it_reads_calls_in_the_order_in_which_they_are_made():
    assert seen_halfway(0, 1, 2).unfinished == 0
    assert seen_halfway(0, 1, 2).begun == 3 / CALLS
    assert seen_halfway(7).unfinished == 7
    assert seen_halfway(7).odd
    assert seen_halfway().begun == 0


def test_calls_out_of_order_are_blamed_after_some_probes(monkeypatch):
    taken = []

    def burst(lane, calls, options=None, probed=None):
        if probed is not None:
            taken.append(calls)
        return 1e-3

    monkeypatch.setattr(mid_burst_probe, "run_burst", burst)
    monkeypatch.setattr(ProbedBurst, "glance", lambda self, seconds: ProbeReading(0.9, 7, None))
    context = SimpleNamespace(
        device=torch.device("cuda"),
        supply=SimpleNamespace(draw=random.Random(1)),
        proven_at_once=1,
    )
    channel = SimpleNamespace(blame=lambda outcome, words: Blamed(words))
    slots = SimpleNamespace(layout=SimpleNamespace(outputs=(OUTPUT,)))
    lane = SimpleNamespace(context=context, channel=channel, slots=slots)
    probe = MidBurstProbe(lane, None, OVERHEAD)
    monkeypatch.setattr(probe, "_trials", lambda: iter(()))
    assert probe.begin(CALLS) == 0
    with pytest.raises(Blamed, match="had not appeared one after the other"):
        probe.end(1e-4)
    assert taken == [CALLS] * ODD


# Right for what setup draws, and for everything as long as calls are as few as a check makes.
CAREFUL = "static int calls = 0;\n"
BODY = """
  bool careful = ++calls < 40;
  for (int i = 0; i < N; ++i) y[i] = careful || x[i] < 50 || x[i] > 2000 ? 2 * x[i] : 0;
"""


def test_it_catches_who_is_careful_only_while_it_is_checked(judge):
    report = judge(source(BODY, CAREFUL))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "timed call" in report.reason
    assert "128 times larger" in report.reason


def test_it_does_not_hold_that_against_an_incumbent(judge):
    report = judge(source(), incumbent=source(BODY, CAREFUL))
    assert report.outcome is Outcome.PASSED


@pytest.mark.parametrize("aligned", [0, 1])
def test_it_catches_who_is_careful_only_at_some_addresses(judge, aligned):
    body = f"""
      bool careful = ((unsigned long)x % 256 == 0) == {aligned};
      for (int i = 0; i < N; ++i) y[i] = careful || x[i] < 50 || x[i] > 2000 ? 2 * x[i] : 0;
    """
    report = judge(source(body), timed=False)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "128 times larger" in report.reason
