"""What a worker process measures with: its row, its device and its evaluator service."""

from __future__ import annotations

import platform as host_platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.devices.discover import Device
from campaigns.devices.idle import look_closely
from campaigns.devices.passport import Measurer
from campaigns.devices.sweep.loop import SweepWork, run_sweep
from campaigns.evaluator.contract import Job
from campaigns.models import Worker
from campaigns.rules.noise.device_gate import DeviceCheck


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The row of a worker, its device and the service that measures on it.

    patience_s: how long to wait for a device that another process of this host holds.
    sweep: builds and screens what a search asks for. look: whether other programs use the device;
    it is held then, and kopt runs nothing on it. serves_all: it takes what any campaign waits for.
    """

    service: Measurer
    device: Device
    worker: Worker
    patience_s: float = 5.0
    look: Callable[[Device], DeviceCheck] = look_closely
    sweep: Callable[[Any, Job, Path, SweepWork, Callable[[], None]], None] = run_sweep
    serves_all: bool = False


def card_of(device: Device) -> str:
    """Name the device itself: a GPU by the driver's id for it, a CPU by the host that it is in."""
    return device.uuid if device.kind == "gpu" else f"{host_platform.node()}: {device.uuid}"
