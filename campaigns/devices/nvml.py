"""NVIDIA's management library: which cards there are and what uses them. CUDA is never started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pynvml

from campaigns.rules.noise.device_gate import Activity

CHOICE = "the driver's choice"
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class NvidiaCard:
    """One NVIDIA card as its driver describes it.

    index: in the order of the PCI bus. minor: of its node /dev/nvidia<minor>; None where unknown.
    """

    index: int
    uuid: str
    name: str
    capability: tuple[int, int]
    memory_bytes: int
    pci_bus: str
    minor: int | None


@contextmanager
def session() -> Iterator[bool]:
    """Open the library; False where this host has none, or no driver behind it."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield False
        return
    try:
        yield True
    finally:
        pynvml.nvmlShutdown()


def driver_version() -> str:
    """The driver's version; empty without a driver."""
    with session() as opened:
        return str(pynvml.nvmlSystemGetDriverVersion()) if opened else ""


def cuda_version() -> str:
    """The highest CUDA that the driver takes, such as "13.0"; "" where it does not say."""
    with session() as opened:
        found = _told(lambda: int(pynvml.nvmlSystemGetCudaDriverVersion_v2())) if opened else None
    # Thousands are the major version, tens the minor one.
    return f"{found // 1000}.{found % 1000 // 10}" if found else ""


def cards() -> list[NvidiaCard]:
    """Every card of this host; empty without a driver. A card that does not answer is left out."""
    with session() as opened:
        if not opened:
            return []
        found = (_told(partial(_card, n)) for n in range(pynvml.nvmlDeviceGetCount()))
        return [card for card in found if card is not None]


def use(uuid: str) -> Activity | None:
    """What uses the card now; None where there is no driver or no such card."""
    return _asked(
        uuid,
        lambda handle: Activity(
            _told(lambda: _process_ids(handle)),
            _told(lambda: int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
            _told(lambda: _memory_bytes(handle)),
        ),
    )


def clock_mhz(uuid: str) -> int | None:
    """The clock now; None where the driver does not say."""
    sm = pynvml.NVML_CLOCK_SM
    return _asked(uuid, lambda handle: int(pynvml.nvmlDeviceGetClockInfo(handle, sm)))


def memory_used_bytes(uuid: str) -> int | None:
    """All that is in use, by the driver as well; None where the driver does not say."""
    return _asked(uuid, lambda handle: int(pynvml.nvmlDeviceGetMemoryInfo(handle).used))


def clock_policy(uuid: str) -> str:
    """What bounds the card's clock: the clocks it may take and its power limit, in words."""
    sm = pynvml.NVML_CLOCK_SM

    def policy(handle: Any) -> str:
        mhz = pynvml.nvmlDeviceGetMaxClockInfo(handle, sm)
        watts = pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3
        chosen = _told(lambda: f"{pynvml.nvmlDeviceGetApplicationsClock(handle, sm)} MHz")
        return f"at most {mhz} MHz, set {chosen or CHOICE}, {watts:.0f} W"

    return _asked(uuid, policy) or "unknown"


def visible(found: Sequence[NvidiaCard], wanted: str | None) -> list[NvidiaCard]:
    """The cards in CUDA's order under CUDA_VISIBLE_DEVICES (`wanted`; None where it is not set).

    As in CUDA the list ends at the first entry that names no card. Numbers count along the PCI bus,
    which CUDA does too under CUDA_DEVICE_ORDER=PCI_BUS_ID.
    """
    if wanted is None:
        return list(found)
    chosen: list[NvidiaCard] = []
    for word in map(str.strip, wanted.split(",")):
        if word.isdigit():
            named = [card for card in found if card.index == int(word)]
        else:
            named = [c for c in found if word.startswith("GPU-") and c.uuid.startswith(word)]
        if len(named) != 1 or named[0] in chosen:
            break
        chosen += named
    return chosen


def visible_cards() -> list[NvidiaCard]:
    """The cards that a CUDA process started now would see, in its order."""
    return visible(cards(), os.environ.get("CUDA_VISIBLE_DEVICES"))


def _asked(uuid: str, question: Callable[[Any], _Answer]) -> _Answer | None:
    """The answer about a card; None where the driver, the card or the permission is missing."""
    with session() as opened:
        if not opened:
            return None
        return _told(lambda: question(pynvml.nvmlDeviceGetHandleByUUID(uuid)))


def _told(question: Callable[[], _Answer]) -> _Answer | None:
    try:
        return question()
    except pynvml.NVMLError:
        return None


def _process_ids(handle: Any) -> tuple[int, ...]:
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return tuple(sorted(process.pid for process in running))


def _memory_bytes(handle: Any) -> int:
    """Without what the driver keeps for itself and what draws the screen.

    Only the second version separates what the driver reserves from what is used.
    """
    used = int(pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2).used)
    drawing = _told(lambda: pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle)) or ()
    return max(0, used - sum(process.usedGpuMemory or 0 for process in drawing))


def _card(index: int) -> NvidiaCard:
    handle: Any = pynvml.nvmlDeviceGetHandleByIndex(index)
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return NvidiaCard(
        index=index,
        uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
        name=str(pynvml.nvmlDeviceGetName(handle)),
        capability=(int(major), int(minor)),
        memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
        pci_bus=str(pynvml.nvmlDeviceGetPciInfo(handle).busId),
        minor=_told(lambda: int(pynvml.nvmlDeviceGetMinorNumber(handle))),
    )
