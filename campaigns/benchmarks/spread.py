"""Independent work shared out over places, each of which does one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService

_Item = TypeVar("_Item")
_Place = TypeVar("_Place")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Place:
    """A device with a service of its own; every job of it works in `scratch`."""

    device: Device
    service: EvaluatorService
    scratch: Path


@contextmanager
def open_places(devices: Iterable[Device], folder: Path) -> Iterator[list[Place]]:
    """A place for each; a device that is named several times has as many, which work at once."""
    with ExitStack() as stack:
        yield [
            Place(device, stack.enter_context(EvaluatorService()), folder / f"scratch-{number}")
            for number, device in enumerate(devices)
        ]


def spread(
    work: Callable[[_Item, _Place], _Found], items: Iterable[_Item], places: Sequence[_Place]
) -> list[_Found]:
    """`work` on every item, each at the first place that is free; results in the items' order.

    Raises what `work` raised first in that order, when all that had begun is done.
    """
    free: SimpleQueue[_Place] = SimpleQueue()
    for place in places:
        free.put(place)

    def one(item: _Item) -> _Found:
        place = free.get()
        try:
            return work(item, place)
        finally:
            free.put(place)

    with ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(one, items))


def name_of(devices: Sequence[Device]) -> str:
    """How a report names devices that are alike: "NVIDIA H200", "4 × NVIDIA H200"."""
    name = devices[0].name
    return name if len(devices) == 1 else f"{len(devices)} × {name}"
