"""Is a device free of other people's work at this moment? One sample; the gate (R8) decides."""

from __future__ import annotations

import os
from collections.abc import Collection

from campaigns.devices import nvml
from campaigns.devices.discover import Device
from campaigns.rules.device_gate import NOT_TOLD, Activity


def look(device: Device, *, ours: Collection[int] = ()) -> Activity:
    """Sample the device; `ours` are process ids that do not count."""
    if device.kind == "cpu":
        return Activity((), 100 * min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), None)
    load = nvml.load(device.uuid)
    if load is None:
        return NOT_TOLD
    others = tuple(pid for pid in load.process_ids if pid not in ours)
    return Activity(others, load.busy_percent, load.memory_used_bytes)
