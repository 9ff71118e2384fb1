"""Cards and their load, asked of the driver."""

from dataclasses import replace
from types import SimpleNamespace

import pynvml
import pytest

from campaigns.devices import nvml
from campaigns.rules.noise.device_gate import Activity
from tests.campaigns.devices.conftest import H100, H200


def test_it_finds_no_card_and_raises_nothing_without_a_driver(monkeypatch):
    def missing():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", missing)
    assert nvml.cards() == []
    assert nvml.driver_version() == ""
    assert nvml.cuda_version() == ""
    assert nvml.clock_mhz("GPU-aaaa1111") is None
    assert nvml.use("GPU-aaaa1111") is None


def test_it_describes_a_card_and_closes_the_library(library):
    fake = library()
    assert nvml.cards() == [H200]
    assert fake.open == 0


def test_it_tells_the_cuda_that_the_driver_takes(library):
    library()
    assert nvml.cuda_version() == "12.4"
    library("nvmlSystemGetCudaDriverVersion_v2")
    assert nvml.cuda_version() == ""


def test_it_leaves_out_a_card_that_does_not_answer(library):
    library("nvmlDeviceGetName")
    assert nvml.cards() == []


def test_it_keeps_a_card_whose_node_is_not_told(library):
    library("nvmlDeviceGetMinorNumber")
    assert nvml.cards() == [replace(H200, minor=None)]


def test_it_tells_the_load_of_a_card(library):
    library()
    assert (nvml.clock_mhz(H200.uuid), nvml.memory_used_bytes(H200.uuid)) == (1980, 7)


def test_it_knows_no_load_where_the_driver_hides_it(library):
    fake = library("nvmlDeviceGetClockInfo", "nvmlDeviceGetMemoryInfo")
    assert nvml.clock_mhz(H200.uuid) is None
    assert nvml.memory_used_bytes(H200.uuid) is None
    assert fake.open == 0


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [
        ((), Activity((10, 20), 3, 7)),
        (("nvmlDeviceGetComputeRunningProcesses",), Activity(None, 3, 7)),
        (("nvmlDeviceGetUtilizationRates",), Activity((10, 20), None, 7)),
        (("nvmlDeviceGetMemoryInfo",), Activity((10, 20), 3, None)),
        (("nvmlDeviceGetGraphicsRunningProcesses",), Activity((10, 20), 3, 7)),
        (("nvmlDeviceGetHandleByUUID",), None),
    ],
)
def test_it_tells_who_uses_a_card_as_far_as_the_driver_does(library, hidden, seen):
    fake = library(*hidden)
    assert nvml.use(H200.uuid) == seen
    assert fake.open == 0


def test_it_does_not_count_the_memory_that_draws_the_screen(library, monkeypatch):
    library()
    drawing = [SimpleNamespace(usedGpuMemory=5), SimpleNamespace(usedGpuMemory=None)]
    monkeypatch.setattr(pynvml, "nvmlDeviceGetGraphicsRunningProcesses", lambda handle: drawing)
    assert nvml.use(H200.uuid).memory_used_bytes == 2


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (None, [H200, H100]),
        ("", []),
        ("-1", []),
        ("1,0", [H100, H200]),
        ("1", [H100]),
        ("GPU-bbbb", [H100]),
        ("GPU-aaaa1111, 1", [H200, H100]),
        ("0,7,1", [H200]),
        ("0,0", [H200]),
        ("GPU-", []),
    ],
)
def test_it_orders_cards_as_cuda_does(wanted, names):
    assert nvml.visible([H200, H100], wanted) == names
