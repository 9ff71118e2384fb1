"""Independent work shared out over evaluator services, each of which does one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import TypeVar

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold
from campaigns.devices.launch import EvaluatorService

_Item = TypeVar("_Item")
_Station = TypeVar("_Station")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Station:
    """A device with a service of its own; every job of it works in `scratch`."""

    device: Device
    service: EvaluatorService
    scratch: Path


@contextmanager
def held(devices: Iterable[Device]) -> Iterator[Path]:
    """All of them for us alone, and a folder to work in. Raises DeviceBusy."""
    with ExitStack() as stack:
        for device in devices:
            stack.enter_context(hold(device))
        yield Path(stack.enter_context(TemporaryDirectory(prefix="kopt-bench-")))


@contextmanager
def open_stations(devices: Iterable[Device], folder: Path) -> Iterator[list[Station]]:
    """A station for each; a device that is named several times has as many, all at work at once."""
    with ExitStack() as stack:
        yield [
            Station(device, stack.enter_context(EvaluatorService()), folder / f"scratch-{number}")
            for number, device in enumerate(devices)
        ]


def spread(
    work: Callable[[_Item, _Station], _Found],
    items: Iterable[_Item],
    stations: Sequence[_Station],
) -> list[_Found]:
    """`work` on every item, each at the first station that is free; results in the items' order.

    Raises what `work` raised first in that order, when all that had begun is done.
    """
    free: SimpleQueue[_Station] = SimpleQueue()
    for station in stations:
        free.put(station)

    def one(item: _Item) -> _Found:
        station = free.get()
        try:
            return work(item, station)
        finally:
            free.put(station)

    with ThreadPoolExecutor(len(stations)) as pool:
        return list(pool.map(one, items))
