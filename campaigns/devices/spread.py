"""Independent work shared out over places, each of which does one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from campaigns.devices.discover import Device

_Item = TypeVar("_Item")
_Place = TypeVar("_Place")
_Found = TypeVar("_Found")


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
