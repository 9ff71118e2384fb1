"""One look at who uses a device."""

from dataclasses import replace
from functools import partial

import pytest

from campaigns.devices import idle
from campaigns.devices.discover import Device
from campaigns.devices.idle import is_gated, look, look_at_all, look_at_host, look_closely
from campaigns.rules.noise.device_gate import UNKNOWN_ACTIVITY, Activity, DeviceState

GPU = Device("gpu", "cuda:0", "NVIDIA H200", "x", "sm_90a", 1, "GPU-aaaa1111")
CPU = Device("cpu", "cpu", "Some CPU", "x", "native", 1, "x")


def test_it_tells_who_uses_a_card(library):
    library()
    assert look(GPU) == Activity((10, 20), 3, 7)
    assert look(GPU).idle is False


def test_it_does_not_guess_what_the_driver_hides(library):
    library("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetComputeRunningProcesses")
    assert look(GPU) == Activity(None, None, 7)
    assert look(GPU).idle is None
    library("nvmlDeviceGetHandleByUUID")
    assert look(GPU) == UNKNOWN_ACTIVITY


def test_it_calls_a_card_busy_by_what_is_seen_though_more_is_hidden(library):
    library("nvmlDeviceGetUtilizationRates")
    assert look(GPU) == Activity((10, 20), None, 7)
    assert look(GPU).idle is False


@pytest.mark.parametrize(("load", "idle"), [(0.0, True), (64.0, False)])
def test_it_reads_the_load_of_a_cpu(monkeypatch, load, idle):
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert look(CPU).idle is idle


class Clock:
    """Counts how long somebody would have slept."""

    slept_s = 0.0

    def __call__(self, seconds):
        self.slept_s += seconds


@pytest.fixture
def clock():
    return Clock()


def looks_of(monkeypatch, *looks):
    """Let a card show these, and the last of them from then on."""
    left = list(looks)
    monkeypatch.setattr(idle, "look", lambda device: left.pop(0) if len(left) > 1 else left[0])


QUIET, LOUD = Activity((), 0.0, 0), Activity((4711,), 99.0, 1 << 30)


def test_it_looks_three_times_at_a_card_that_is_idle(monkeypatch, clock):
    looks_of(monkeypatch, QUIET)
    assert look_closely(GPU, sleep=clock).gate is DeviceState.IDLE
    assert clock.slept_s == pytest.approx(1.2)


def test_it_waits_a_moment_for_what_has_just_ended(monkeypatch, clock):
    """Of our own last measurement the driver tells for up to a second."""
    looks_of(monkeypatch, LOUD, Activity((), 60.0, 0), QUIET)
    assert look_closely(GPU, sleep=clock).gate is DeviceState.IDLE
    assert clock.slept_s == pytest.approx(2.0)


def test_it_does_not_wait_longer_for_what_stays(monkeypatch, clock):
    looks_of(monkeypatch, LOUD)
    found = look_closely(GPU, sleep=clock)
    assert found.gate is DeviceState.BUSY
    assert "process 4711 computes on it" in found.why
    assert clock.slept_s == pytest.approx(3.6)


def test_a_look_between_two_others_does_not_make_a_card_idle(monkeypatch, clock):
    looks_of(monkeypatch, *[QUIET, QUIET, LOUD] * 3, LOUD)
    assert look_closely(GPU, sleep=clock).gate is DeviceState.BUSY


def test_it_asks_a_cpu_once_where_nothing_waits_for_it(monkeypatch, clock):
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    found = look_closely(CPU, sleep=clock)
    assert (found.gate, found.why) == (DeviceState.BUSY, "75 % busy, at most 50 % is idle")
    assert clock.slept_s == 0


@pytest.mark.parametrize(
    ("looks", "gated"), [(partial(look_closely, CPU), "ALL"), (look_at_host, "GPU")]
)
@pytest.mark.parametrize(
    ("busy", "gate", "why"),
    [
        ([60] * 10, DeviceState.BUSY, "60 % busy"),
        ([20] * 4, DeviceState.IDLE, "20 % busy"),
        # Each look tells of the time since the one before, not since the first.
        ([40, 90, 10, 10, 10], DeviceState.IDLE, "10 % busy"),
    ],
)
def test_it_reads_the_ticks_of_a_cpu_that_is_waited_for(
    monkeypatch, settings, tmp_path, busy, gate, why, looks, gated
):
    settings.KOPT_GATE = gated
    stat, ticks, busy = tmp_path / "stat", [1000, 9000], [*busy]
    monkeypatch.setattr(idle, "STAT", stat)

    def passes(seconds=0.0):
        """100 ticks, so many of them at work in one way or the other."""
        now = busy.pop(0)
        ticks[0] += now
        ticks[1] += 100 - now
        stat.write_text(f"cpu  {ticks[0]} 1 2 {ticks[1]} 3 4 5 6 0 0\ncpu0 1 2 3\n")

    passes()
    found = looks(sleep=passes)
    assert found.gate is gate
    assert why in found.why


@pytest.mark.parametrize(
    ("choice", "gpu", "cpu"), [("GPU", True, False), ("ALL", True, True), ("OFF", False, False)]
)
def test_it_is_a_setting_what_is_waited_for(settings, choice, gpu, cpu):
    settings.KOPT_GATE = choice
    assert (is_gated(GPU), is_gated(CPU)) == (gpu, cpu)


def test_it_looks_at_all_at_once_and_tells_in_their_order(monkeypatch):
    monkeypatch.setattr(idle, "EVERY_S", 0.0)
    monkeypatch.setattr(idle, "look", lambda device: LOUD if device is GPU else QUIET)
    other = replace(GPU, uuid="GPU-2")
    assert [found.gate for found in look_at_all([GPU, other])] == [
        DeviceState.BUSY,
        DeviceState.IDLE,
    ]
    assert look_at_all([]) == []
