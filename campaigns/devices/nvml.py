"""NVIDIA's management library: which cards there are and what uses them. CUDA is never started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pynvml

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


@dataclass(frozen=True, slots=True)
class Load:
    """What a card does at this moment."""

    process_ids: tuple[int, ...]
    busy_percent: int
    memory_used_bytes: int
    clock_mhz: int


@dataclass(frozen=True, slots=True)
class CardUse:
    """What uses a card now; None for what the driver does not report.

    memory_bytes: without what the driver keeps for itself and what draws the screen.
    """

    process_ids: tuple[int, ...] | None
    busy_percent: int | None
    memory_bytes: int | None


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


def cards() -> list[NvidiaCard]:
    """Every card of this host; empty without a driver. A card that does not answer is left out."""
    with session() as opened:
        if not opened:
            return []
        found = (_card(index) for index in range(pynvml.nvmlDeviceGetCount()))
        return [card for card in found if card is not None]


def load(uuid: str) -> Load | None:
    """What the card does now; None where it, the driver or the permission is missing."""
    with session() as opened:
        if not opened:
            return None
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
            return Load(
                process_ids=tuple(sorted(process.pid for process in running)),
                busy_percent=int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu),
                memory_used_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).used),
                clock_mhz=int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)),
            )
        except pynvml.NVMLError:
            return None


def use(uuid: str) -> CardUse | None:
    """What uses the card now; None where there is no driver or no such card."""
    with session() as opened:
        if not opened:
            return None
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        except pynvml.NVMLError:
            return None
        return CardUse(
            _told(lambda: _process_ids(handle)),
            _told(lambda: int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
            _told(lambda: _memory_bytes(handle)),
        )


def clock_policy(uuid: str) -> str:
    """What bounds the card's clock: the clocks it may take and its power limit, in words."""
    with session() as opened:
        if not opened:
            return "unknown"
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            mhz = pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)
            watts = pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3
        except pynvml.NVMLError:
            return "unknown"
        try:
            chosen = f"{pynvml.nvmlDeviceGetApplicationsClock(handle, pynvml.NVML_CLOCK_SM)} MHz"
        except pynvml.NVMLError:
            chosen = "the driver's choice"
        return f"at most {mhz} MHz, set {chosen}, {watts:.0f} W"


def visible(found: Sequence[NvidiaCard], wanted: str | None) -> list[NvidiaCard]:
    """The cards in CUDA's order under CUDA_VISIBLE_DEVICES (`wanted`; None where it is not set).

    As in CUDA the list ends at the first entry that names no card. Numbers count along the PCI bus,
    which CUDA does too under CUDA_DEVICE_ORDER=PCI_BUS_ID.
    """
    if wanted is None:
        return list(found)
    chosen: list[NvidiaCard] = []
    for word in wanted.split(","):
        card = _named(found, word.strip())
        if card is None or card in chosen:
            break
        chosen.append(card)
    return chosen


def visible_cards() -> list[NvidiaCard]:
    """The cards that a CUDA process started now would see, in its order."""
    return visible(cards(), os.environ.get("CUDA_VISIBLE_DEVICES"))


def _named(found: Sequence[NvidiaCard], word: str) -> NvidiaCard | None:
    if word.isdigit():
        return next((card for card in found if card.index == int(word)), None)
    if not word.startswith("GPU-"):
        return None
    matching = [card for card in found if card.uuid.startswith(word)]
    return matching[0] if len(matching) == 1 else None


def _told(question: Callable[[], _Answer]) -> _Answer | None:
    try:
        return question()
    except pynvml.NVMLError:
        return None


def _process_ids(handle: Any) -> tuple[int, ...]:
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return tuple(sorted(process.pid for process in running))


def _memory_bytes(handle: Any) -> int:
    """Only the second version separates what the driver reserves from what is used."""
    used = int(pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2).used)
    drawing = _told(lambda: pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle)) or ()
    return max(0, used - sum(process.usedGpuMemory or 0 for process in drawing))


def _card(index: int) -> NvidiaCard | None:
    try:
        handle: Any = pynvml.nvmlDeviceGetHandleByIndex(index)
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        return NvidiaCard(
            index=index,
            uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
            name=str(pynvml.nvmlDeviceGetName(handle)),
            capability=(int(major), int(minor)),
            memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
            pci_bus=str(pynvml.nvmlDeviceGetPciInfo(handle).busId),
            minor=_minor(handle),
        )
    except pynvml.NVMLError:
        return None


def _minor(handle: Any) -> int | None:
    try:
        return int(pynvml.nvmlDeviceGetMinorNumber(handle))
    except pynvml.NVMLError:
        return None
