"""Cards that no host of the suite has, and one result of a ceilings run."""

from types import SimpleNamespace

import pynvml
import pytest

from campaigns.devices import nvml
from campaigns.evaluator.ceilings.result import MeasuredCeiling, Result, Sample

H200 = nvml.NvidiaCard(
    0, "GPU-aaaa1111", "NVIDIA H200", (9, 0), 150_000_000_000, "00000000:19:00.0", 2
)
H100 = nvml.NvidiaCard(
    1, "GPU-bbbb2222", "NVIDIA H100 80GB HBM3", (9, 0), 85_000_000_000, "0:3B:00.0", 0
)


class FakeLibrary:
    """Answers pynvml's functions for one card used by two processes."""

    def __init__(self, broken=()):
        self.broken = set(broken)
        self.open = 0

    def install(self, monkeypatch):
        answers = {
            "nvmlInit": lambda: self._count(1),
            "nvmlShutdown": lambda: self._count(-1),
            "nvmlSystemGetDriverVersion": lambda: "580.95.05",
            "nvmlSystemGetCudaDriverVersion_v2": lambda: 12040,
            "nvmlDeviceGetCount": lambda: 1,
            "nvmlDeviceGetHandleByIndex": lambda index: f"card {index}",
            "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
            "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
            "nvmlDeviceGetUUID": lambda handle: H200.uuid,
            "nvmlDeviceGetName": lambda handle: H200.name,
            "nvmlDeviceGetMemoryInfo": lambda handle, version=None: SimpleNamespace(
                total=H200.memory_bytes, used=7
            ),
            "nvmlDeviceGetGraphicsRunningProcesses": lambda handle: [],
            "nvmlDeviceGetPciInfo": lambda handle: SimpleNamespace(busId=H200.pci_bus),
            "nvmlDeviceGetMinorNumber": lambda handle: H200.minor,
            "nvmlDeviceGetComputeRunningProcesses": lambda handle: [
                SimpleNamespace(pid=20),
                SimpleNamespace(pid=10),
            ],
            "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=3),
            "nvmlDeviceGetClockInfo": lambda handle, kind: 1980,
        }
        for name, answer in answers.items():
            monkeypatch.setattr(pynvml, name, self._refuse if name in self.broken else answer)

    def _count(self, step):
        self.open += step

    def _refuse(self, *arguments, **named):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)


@pytest.fixture
def library(monkeypatch):
    """Install a fake library; call with the names of functions that fail."""

    def install(*broken):
        fake = FakeLibrary(broken)
        fake.install(monkeypatch)
        return fake

    return install


@pytest.fixture
def cards(monkeypatch):
    """Give this host an H200 and an H100, and a torch that can use them."""
    monkeypatch.setattr("campaigns.devices.discover.visible_cards", lambda: [H200, H100])
    monkeypatch.setattr("campaigns.devices.discover.driver_version", lambda: "580.95.05")
    monkeypatch.setattr("campaigns.devices.discover.torch_has_cuda", lambda: True)
    return [H200, H100]


@pytest.fixture
def result():
    """What a CPU run answers."""
    copies = Sample("copy_bandwidth", "", "streaming", 2, 128 << 20, (40.5e9, 46.712e9, 44e9))
    fmas = Sample("fma_throughput", "float32", "chains", 2, 0, (128.14e9, 120e9))
    return Result(
        device="cpu",
        name="Some | CPU",
        host="box",
        measured_at="2026-05-04T03:02:01+00:00",
        command="python -m campaigns.evaluator.ceilings --device cpu --json",
        versions={"g++": "g++ | 12"},
        clocks={"cpu clock before": "2600 to 2600 MHz"},
        samples=(copies, fmas),
        ceilings=(
            MeasuredCeiling(
                "copy_bandwidth", "", 46.712e9, 44e9, "streaming, 2 threads, best of 3"
            ),
            MeasuredCeiling("fma_throughput", "float32", 128.14e9, 124.07e9, "chains, best of 2"),
        ),
        notes=("the caches may have helped",),
    )
