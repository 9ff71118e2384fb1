"""Whether other programs use a device: one sample, and the several that the gate needs (R8).

kopt itself computes nothing while the gate samples: the caller holds the device and has not begun.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from django.conf import settings

from campaigns.devices import amd, nvml
from campaigns.devices.discover import Device
from campaigns.rules.noise.device_gate import (
    CPU,
    CPU_MINUTE,
    GPU,
    UNKNOWN_ACTIVITY,
    Activity,
    DeviceCheck,
    DeviceState,
    IdleLimits,
    judge,
)

STAT = Path("/proc/stat")
# A driver's own sample lasts up to a second; three looks so far apart are hardly one and the same.
EVERY_S = 0.4
# What has just ended still shows for a moment: our last measurement, or another program's.
MOST_LOOKS = 9
GPUS, ALL = "GPU", "ALL"


def is_gated(device: Device) -> bool:
    """Whether a busy device is waited for; else that it is busy is only noted."""
    return settings.KOPT_GATE == ALL or (settings.KOPT_GATE == GPUS and device.kind == "gpu")


def look(device: Device) -> Activity:
    """Sample the device."""
    if device.kind == "cpu":
        return Activity((), 100 * min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), None)
    bus = device.detail.get("PCI bus", "")
    return nvml.use(device.uuid) or amd.look(bus) or UNKNOWN_ACTIVITY


def look_closely(
    device: Device, *, most: int = MOST_LOOKS, sleep: Callable[[float], None] = time.sleep
) -> DeviceCheck:
    """Look until the device is seen idle, `most` times at the most, and say what came of it.

    A CPU that is not gated is asked once for its last minute, which takes no time.
    """
    if device.kind == "cpu" and not is_gated(device):
        return judge([look(device)], CPU_MINUTE)
    sample = _of_cpus() if device.kind == "cpu" else partial(look, device)
    return _look_on(sample, GPU if device.kind == "gpu" else CPU, most, sleep)


def look_at_host(sleep: Callable[[float], None] = time.sleep) -> DeviceCheck:
    """The same of all CPUs of this host, whatever is gated; in words also its load."""
    found = _look_on(_of_cpus(), CPU, MOST_LOOKS, sleep)
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return replace(found, why=f"{load}, {found.why}")


def _look_on(
    sample: Callable[[], Activity], limits: IdleLimits, most: int, sleep: Callable[[float], None]
) -> DeviceCheck:
    looks: deque[Activity] = deque(maxlen=limits.samples)
    found = judge(looks, limits)
    for _ in range(max(most, limits.samples)):
        sleep(EVERY_S)
        looks.append(sample())
        found = judge(looks, limits)
        if len(looks) == limits.samples and found.gate is not DeviceState.BUSY:
            break
    return found


def _of_cpus() -> Callable[[], Activity]:
    """Samples of how busy all CPUs were since the sample before."""
    before = _ticks()

    def sample() -> Activity:
        nonlocal before
        now = _ticks()
        busy, passed = (after - earlier for after, earlier in zip(now, before, strict=True))
        before = now
        return Activity((), 100 * busy / passed if passed else 0.0, None)

    return sample


def look_at_all(devices: Sequence[Device]) -> list[DeviceCheck]:
    """Three samples of each device, all devices at the same time."""
    with ThreadPoolExecutor(max(1, len(devices))) as pool:
        return list(pool.map(lambda device: look_closely(device, most=0), devices))


def _ticks() -> tuple[int, int]:
    """What all CPUs of the host have worked since its start, and all that they could have."""
    first = STAT.read_text().partition("\n")[0]
    user, nice, system, idle, waiting, *rest = map(int, first.split()[1:9])
    busy = user + nice + system + sum(rest)
    return busy, busy + idle + waiting
