"""The state of device and host around a measurement: clocks, heat, power, throttling, other load.

Everything is read from the kernel or the driver's management library between two bursts. What
cannot be read is None: a measurement is never refused because a host shows little.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynvml
import torch

from campaigns.evaluator import host
from campaigns.evaluator.contract import Moment
from campaigns.evaluator.host import text_of
from campaigns.evaluator.judge.integrity.process_hold import below, parent_of

PROC = Path("/proc")
CPUS = Path("/sys/devices/system/cpu")
# Fields of the lines of /proc/stat that begin with "cpu".
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)
WORK = (USER, NICE, SYSTEM, IRQ, SOFTIRQ)
# Fields of /proc/<pid>/stat behind the name: own time and that of ended children, in ticks.
TIMES = slice(11, 15)

# Why a clock is held down (NVML's clocks event reasons). An idle card and a chosen clock are
# harmless, so neither is listed.
REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "heat (software)",
    0x40: "heat (hardware)",
    0x80: "power brake",
}


@dataclass(frozen=True, slots=True)
class _Ticks:
    """Counters of the host at one moment; stat: ticks, summed over the CPUs that we may use."""

    at_s: float
    waited_us: int | None
    stat: tuple[int, ...]
    ours: int


class HostWatch:
    """Reads the state of one device and its host; shares are of the time since the last reading."""

    def __init__(self, device: torch.device) -> None:
        self._tick_hz = os.sysconf("SC_CLK_TCK")
        self._card = _card(device) if device.type == "cuda" else None
        self._on_gpu = device.type == "cuda"
        # The supervisor's parent is the service; crews in reserve are below it, too.
        self._service = parent_of(os.getppid())
        self._first = self._last = self._ticks()
        self._device = device

    @property
    def environment(self) -> dict[str, str]:
        """Names and versions, for the report."""
        return describe(self._device)

    def look(self, case: str, block: int) -> Moment:
        """The state now, after `block` blocks of `case`."""
        before, now = self._last, self._ticks()
        self._last = now
        card = self._of_card() if self._on_gpu else {"clock_mhz": _cpu_mhz()}
        return Moment(
            case=case,
            block=block,
            load=_first_number(PROC / "loadavg"),
            pressure=_pressure(before, now),
            stolen=_stolen(before, now),
            **({"others": self._others(before, now)} | card),
        )

    def begin(self) -> None:
        """Leave out of `others_share` what was until now."""
        self._first = self._ticks()

    def others_share(self) -> float:
        """The share of the CPUs that others have kept busy since the beginning; 0 if unknown."""
        found = self._others(self._first, self._ticks())
        return (found or 0.0) / len(os.sched_getaffinity(0))

    def neighbours(self) -> float | None:
        """How many other services' processes compute on the card; None where unknown."""
        with contextlib.suppress(pynvml.NVMLError):
            return None if self._card is None else _neighbours(self._card, self._ours())
        return None

    def _ours(self) -> set[int]:
        """The processes of this service that run now, this one among them."""
        return below(self._service) | {self._service, os.getpid()}

    def _ticks(self) -> _Ticks:
        ours = self._ours()
        return _Ticks(
            at_s=time.monotonic(),
            waited_us=_waited_us(),
            stat=_stat(),
            ours=sum(map(_used_ticks, ours)),
        )

    def _others(self, before: _Ticks, now: _Ticks) -> float | None:
        seconds = now.at_s - before.at_s
        if not (before.stat and now.stat and seconds > 0):
            return None
        busy = sum(now.stat[i] - before.stat[i] for i in WORK) - (now.ours - before.ours)
        return max(0.0, busy / self._tick_hz / seconds)

    def _of_card(self) -> dict[str, Any]:
        """What the driver says; nothing where it, the card or a permission is missing."""
        if self._card is None:
            return {"others": None}
        found: dict[str, Any] = {"others": None}
        for name, value in _readings(self._card, self._ours()):
            with contextlib.suppress(pynvml.NVMLError):
                found[name] = value()
        return found


def _readings(card: Any, ours: Set[int]) -> Iterator[tuple[str, Any]]:
    yield "clock_mhz", lambda: float(pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM))
    yield (
        "temperature_c",
        lambda: float(pynvml.nvmlDeviceGetTemperature(card, pynvml.NVML_TEMPERATURE_GPU)),
    )
    yield "power_w", lambda: pynvml.nvmlDeviceGetPowerUsage(card) / 1e3
    yield "throttled", lambda: _held_down(card)
    yield "others", lambda: _neighbours(card, ours)


def throttled(device: torch.device) -> tuple[str, ...]:
    """Why the card's clock is held down now; empty where nothing holds it or nobody says so."""
    card = _card(device)
    if card is not None:
        with contextlib.suppress(pynvml.NVMLError):
            return _held_down(card)
    return ()


def _held_down(card: Any) -> tuple[str, ...]:
    return throttle_words(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(card))


def throttle_words(bits: int) -> tuple[str, ...]:
    """The driver's bit field in words; what is harmless is left out."""
    return tuple(words for bit, words in REASONS.items() if bits & bit)


def _neighbours(card: Any, ours: Set[int]) -> float | None:
    """How many other services' processes compute; None where the driver lists none of this service.

    In a container the driver may count in the host's process ids, which mean nothing here.
    """
    running = {int(process.pid) for process in pynvml.nvmlDeviceGetComputeRunningProcesses(card)}
    return float(len(running - ours)) if running & ours else None


def _card(device: torch.device) -> Any:
    """The driver's handle; None where the management library is missing or knows no such card."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    try:
        pynvml.nvmlInit()
        return pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    except pynvml.NVMLError:
        return None


def _cpu_mhz() -> float | None:
    """The clock of the fastest CPU that this process may run on: at least one of them is awake."""
    mine = os.sched_getaffinity(0)
    found = []
    for cpu in mine:
        khz = _first_number(CPUS / f"cpu{cpu}/cpufreq/scaling_cur_freq")
        found += [khz / 1e3] if khz is not None else []
    if not found:
        found = [mhz for cpu, mhz in _listed_mhz() if cpu in mine]
    return max(found, default=None)


def _listed_mhz() -> Iterator[tuple[int, float]]:
    cpu = -1
    for line in text_of(PROC / "cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "processor":
            cpu = int(value)
        elif name.strip() == "cpu MHz":
            yield cpu, float(value)


def _pressure(before: _Ticks, now: _Ticks) -> float | None:
    seconds = now.at_s - before.at_s
    if before.waited_us is None or now.waited_us is None or seconds <= 0:
        return None
    return min(1.0, max(0.0, (now.waited_us - before.waited_us) / 1e6 / seconds))


def _stolen(before: _Ticks, now: _Ticks) -> float | None:
    passed = [b - a for a, b in zip(before.stat, now.stat, strict=False)][: STEAL + 1]
    if len(passed) <= STEAL or sum(passed) <= 0:
        return None
    return min(1.0, max(0.0, passed[STEAL] / sum(passed)))


def _waited_us() -> int | None:
    """Microseconds so far in which some task waited for a CPU; None without the kernel's account.

    https://docs.kernel.org/accounting/psi.html
    """
    for line in text_of(PROC / "pressure/cpu").splitlines():
        words = line.split()
        if words[0] == "some":
            return int(words[-1].removeprefix("total="))
    return None


def _stat() -> tuple[int, ...]:
    mine = {f"cpu{cpu}" for cpu in os.sched_getaffinity(0)}
    lines = [line.split() for line in text_of(PROC / "stat").splitlines()]
    found = [tuple(map(int, words[1:])) for words in lines if words and words[0] in mine]
    return tuple(map(sum, zip(*found, strict=True)))


def _used_ticks(pid: int) -> int:
    """CPU time of a process and of its ended children; 0 for one that has just gone."""
    stat = text_of(PROC / f"{pid}/stat")
    behind = stat[stat.rfind(")") + 2 :].split()
    return sum(map(int, behind[TIMES]))


def _first_number(path: Path) -> float | None:
    words = text_of(path).split()
    return float(words[0]) if words else None


def memory_of(device: torch.device) -> tuple[int, int]:
    """Free bytes, and those of the last cache before memory; 0 where the system does not say."""
    if device.type == "cuda":
        cache = int(torch.cuda.get_device_properties(device).L2_cache_size)
        return int(torch.cuda.mem_get_info(device)[0]), cache
    unused = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return host.memory_available_bytes() or unused, host.last_level_cache_bytes()


def describe(device: torch.device) -> dict[str, str]:
    """Names and versions for the report."""
    found = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "kernel": platform.release(),
        "host": platform.node(),
        "device": host.cpu_name(),
        "cores": str(host.cpus_usable()),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default").lower(),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found["device"] = properties.name
        found["compute_capability"] = f"{properties.major}.{properties.minor}"
        found["multiprocessors"] = str(properties.multi_processor_count)
        found["cuda"] = str(torch.version.cuda)
        found["driver"] = _driver()
    return found


def _driver() -> str:
    """The version of the loaded kernel module; asking nvidia-smi would take a process."""
    path = Path("/proc/driver/nvidia/version")
    found = re.search(r"\b\d{3,}\.\d[\d.]*", path.read_text()) if path.exists() else None
    return found.group() if found else "unknown"
