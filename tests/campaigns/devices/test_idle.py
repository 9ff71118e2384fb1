"""One look at who uses a device."""

import pytest

from campaigns.devices.discover import Device
from campaigns.devices.idle import look
from campaigns.rules.device_gate import Activity

GPU = Device("gpu", "cuda:0", "NVIDIA H200", "x", "sm_90a", 1, "GPU-aaaa1111")
CPU = Device("cpu", "cpu", "Some CPU", "x", "native", 1, "x")


def test_it_does_not_count_our_own_processes(library):
    library()
    assert look(GPU, ours={10}) == Activity((20,), 3, 7)
    assert look(GPU, ours={10}).idle is False
    assert look(GPU, ours={10, 20}).idle is True


def test_it_does_not_guess_what_the_driver_hides(library):
    library("nvmlDeviceGetUtilizationRates")
    assert look(GPU) == Activity(None, None, None)
    assert look(GPU).idle is None


@pytest.mark.parametrize(("load", "idle"), [(0.0, True), (64.0, False)])
def test_it_reads_the_load_of_a_cpu(monkeypatch, load, idle):
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert look(CPU).idle is idle
