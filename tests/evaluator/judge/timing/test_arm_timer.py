"""Bursts of random lengths show what a call leaves for the next one."""

from __future__ import annotations

import random
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Timer
from campaigns.evaluator.judge.timing import arm_timer
from campaigns.evaluator.judge.timing.arm_timer import CUTS, Arm, ArmTimer
from campaigns.evaluator.judge.timing.overhead import Growth
from campaigns.evaluator.judge.timing.schedule import BurstLengths


@pytest.fixture
def cut():
    """The lengths of the bursts that are made beside the samples on such a device."""

    def lengths(device, seed=1):
        made = []
        timer = ArmTimer.__new__(ArmTimer)
        supply = SimpleNamespace(draw=random.Random(seed))
        context = SimpleNamespace(device=SimpleNamespace(type=device), supply=supply)
        timer.arm = SimpleNamespace(context=context)
        timer.lengths = BurstLengths(8, 64)
        timer._prepared_burst = made.append
        timer._cut()
        return made

    return lengths


def test_on_a_gpu_they_end_anywhere_up_to_the_long_one(cut):
    found = [length for seed in range(400) for length in cut("cuda", seed)]
    assert len(found) == CUTS * 400
    assert {*found} == {*range(1, 65)}


def test_on_a_cpu_the_order_of_the_slots_does_that(cut):
    assert not cut("cpu")


def test_they_are_made_behind_the_samples(monkeypatch):
    timer = ArmTimer.__new__(ArmTimer)
    done = []
    monkeypatch.setattr(ArmTimer, "_cut", lambda self: done.append("cut"))
    monkeypatch.setattr(ArmTimer, "_settle", lambda self, lengths: done.append("settled"))
    timer.lengths = BurstLengths(1, 2)
    timer.samples_us = [1.0]
    timer._retaken = 0
    timer.arm = SimpleNamespace(job=SimpleNamespace(protocol=SimpleNamespace(burst_ms=1)), most=9)
    timer.arm.why_most, timer.arm.on_cpu = "", False
    timer._probe = SimpleNamespace(end=lambda typical_s: done.append("probed") or 0.0)
    timer.settle(1e-5)
    timer.close()
    assert done == ["settled", "cut", "probed"]


@pytest.mark.parametrize(("device", "cpu_us"), [("cpu", [5000.0]), ("cuda", [])])
def test_the_cpu_time_of_a_call_is_a_slope_as_its_time_is(monkeypatch, device, cpu_us):
    used_s = iter([0.5 + 5 * 0.005, 0.5 + 1 * 0.005])
    monkeypatch.setattr(ArmTimer, "_sample_us", lambda self: sum(self.pair(cold=True)))
    monkeypatch.setattr(arm_timer, "run_burst", lambda lane, calls, options: calls * 1e-3)
    timer = ArmTimer.__new__(ArmTimer)
    timer.lengths, timer.call_s, timer._breadth = BurstLengths(1, 5), 1e-3, 5
    timer._legal = 0
    timer.samples_us, timer.cpu_us, timer._used_s = [], [], {}
    timer._probe = SimpleNamespace(maybe=lambda: None)
    context = SimpleNamespace(
        device=SimpleNamespace(type=device),
        supply=SimpleNamespace(draw=SimpleNamespace(shuffle=list.reverse)),
    )

    class Channel:
        turn, has_left = nullcontext, False
        used_s = property(lambda self: next(used_s))

    timer.arm = Arm(
        job=SimpleNamespace(protocol=SimpleNamespace(burst_ms=1.0)),
        lane=SimpleNamespace(context=context, channel=Channel()),
        overhead=SimpleNamespace(growth=Growth()),
        most=5, why_most="", warm=0, check=None, notes=[],
    )  # fmt: skip
    timer.take(traced=False)
    assert timer.cpu_us == pytest.approx(cpu_us)


def traced_arm(monkeypatch):
    """An arm on a GPU, and what is done for it in turn: slots that get inputs, and traced calls."""
    done = []
    monkeypatch.setattr(arm_timer, "set_up", lambda lane, calls, options: done.append(calls))
    monkeypatch.setattr(arm_timer, "run_burst", lambda lane, calls, options: 1e-3)
    monkeypatch.setattr(
        ArmTimer,
        "ask",
        lambda self, ask, body: done.append(ask.name) or SimpleNamespace(x=1.0, y=1.0),
    )
    layout = SimpleNamespace(outputs=[SimpleNamespace(update=False)])
    context = SimpleNamespace(device=SimpleNamespace(type="cuda"), layout=layout, wait=lambda: None)
    timer = ArmTimer.__new__(ArmTimer)
    timer.lengths, timer.call_s, timer._breadth = BurstLengths(8, 64), 1e-5, 64
    timer.timer, timer._used_s, timer._legal = Timer.GRAPH, {}, 0
    timer.arm = SimpleNamespace(
        context=context,
        lane=None,
        job=SimpleNamespace(protocol=SimpleNamespace(burst_ms=1.0)),
        overhead=SimpleNamespace(growth=Growth()),
        channel=SimpleNamespace(used_s=0.0),
    )
    return timer, done


def test_what_another_case_left_is_replaced_before_calls_are_traced(monkeypatch):
    timer, done = traced_arm(monkeypatch)
    timer._burst(64)
    timer.profile()
    timer.resume()
    timer.profile()
    timer.profile()
    assert done == ["PROFILE", 64, "PROFILE", "PROFILE"]


def test_what_calls_update_in_place_is_replaced_each_time(monkeypatch):
    timer, done = traced_arm(monkeypatch)
    timer.arm.context.layout.outputs[0].update = True
    timer._burst(64)
    timer.profile()
    assert done == [64, "PROFILE"]
