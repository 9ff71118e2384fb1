"""Is a device free of other people's work at this moment? One sample; the gate (R8) decides."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from campaigns.devices import nvml
from campaigns.devices.discover import Device

BUSY_PERCENT = 5  # R8: at most this is idle


@dataclass(frozen=True, slots=True)
class Activity:
    """One look at a device. None means that this host does not tell.

    others: processes that compute on it and are not ours; always empty for a CPU, where every
    process would count and only the load tells something.
    """

    others: tuple[int, ...] | None
    busy_percent: float | None
    memory_used_bytes: int | None

    @property
    def idle(self) -> bool | None:
        """True or False where there is an answer; None where nothing can be read."""
        if self.others is None or self.busy_percent is None:
            return None
        return not self.others and self.busy_percent <= BUSY_PERCENT


def look(device: Device, *, ours: Collection[int] = ()) -> Activity:
    """Sample the device; `ours` are process ids that do not count."""
    if device.kind == "cpu":
        return Activity((), 100 * min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), None)
    load = nvml.load(device.uuid)
    if load is None:
        return Activity(None, None, None)
    others = tuple(pid for pid in load.process_ids if pid not in ours)
    return Activity(others, load.busy_percent, load.memory_used_bytes)
