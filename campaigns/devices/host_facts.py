"""What noise depends on beside the device itself: a passport holds while these stay the same."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device

GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def host_facts(device: Device) -> Mapping[str, str]:
    """Host, kernel, clock policy and, for a GPU, its driver; read now."""
    facts = {"host": platform.node(), "kernel": platform.release()}
    if device.kind == "gpu":
        driver = device.detail.get("driver", "")
        return facts | {"driver": driver, "clock policy": nvml.clock_policy(device.uuid)}
    try:
        policy = f"governor {GOVERNOR.read_text().strip()}"
    except OSError:
        policy = "fixed or hidden by the hypervisor"
    return facts | {"clock policy": policy, "CPUs usable": device.detail.get("CPUs usable", "")}
