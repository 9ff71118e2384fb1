"""A worker: its row and sign of life, and the device that it measures on (R8).

A device that another worker or process holds comes last. A worker leaves its device only when other
programs use it and another device is idle.
"""

from __future__ import annotations

import os
import platform as host_platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.utils import timezone

from campaigns.devices.discover import Device, alike, ensure_platform, this_device
from campaigns.devices.hold import holder
from campaigns.devices.idle import is_gated, look_at_all, look_at_host, look_closely
from campaigns.devices.passport import Measurer, host_facts
from campaigns.devices.sweep.loop import SweepWork, run_sweep
from campaigns.evaluator.contract import Job
from campaigns.models import Worker
from campaigns.records.device_waits import open_waits, waits_on
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The row of a worker, its device and the service that measures on it.

    patience_s: how long to wait for a device that another process of this host holds.
    sweep: builds and screens what a search asks for. look: whether other programs use the device;
    it is held then, and kopt runs nothing on it. look_at_host: whether they keep the host busy, as
    is asked before what met load is measured again. serves_all: it takes what any campaign waits
    for.
    """

    service: Measurer
    device: Device
    worker: Worker
    patience_s: float = 5.0
    look: Callable[[Device], DeviceCheck] = look_closely
    look_at_host: Callable[[], DeviceCheck] = look_at_host
    sweep: Callable[[Any, Job, Path, SweepWork, Callable[[], None]], None] = run_sweep
    serves_all: bool = False


def card_of(device: Device) -> str:
    """Name the device itself: a GPU by the driver's id for it, a CPU by the host that it is in."""
    return device.uuid if device.kind == "gpu" else f"{host_platform.node()}: {device.uuid}"


def ranked(candidates: list[Device], worker: str) -> list[tuple[Device, DeviceCheck, bool]]:
    """The most idle first, each with what was seen and whether a worker of kopt uses it."""
    living = Worker.objects.alive().exclude(name=worker).values_list("card", flat=True)
    cards = set(living)
    taken = [card_of(device) in cards or holder(device) is not None for device in candidates]
    rows = list(zip(candidates, look_at_all(candidates), taken, strict=True))
    # The sort is stable: equal devices keep the order of CUDA.
    return sorted(rows, key=lambda row: (row[2], row[1].rank))


def worker_beat(name: str, device: Device) -> Worker:
    """Write or refresh the row of the worker of that name; a new process starts a new life."""
    now, pid = timezone.now(), os.getpid()
    alive = Worker.objects.filter(name=name, pid=pid, device=device.device)
    if alive.update(heartbeat_at=now):
        return alive.get()
    versions = {"python": sys.version.split()[0], "django": django.get_version()}
    row, _ = Worker.objects.update_or_create(
        name=name,
        defaults={
            "host": host_platform.node(),
            "pid": pid,
            "device": device.device,
            "card": card_of(device),
            "platform": ensure_platform(device),
            "versions": versions,
            "started_at": now,
            "heartbeat_at": now,
        },
    )
    return row


def note_host(worker: Worker, device: Device) -> None:
    """Keep what the worker runs under in its row, for pages and for the next look."""
    versions = {**worker.versions, **host_facts(device)}
    if versions != worker.versions:
        worker.versions = versions
        Worker.objects.filter(pk=worker.pk).update(versions=versions)


def choose_device(worker: str) -> Device:
    """The device for the worker of this name, which has none yet."""
    first = this_device()
    candidates = [first] if settings.KOPT_DEVICE else alike(first)
    if len(candidates) == 1:
        return first
    return ranked(candidates, worker)[0][0]


def change_device(worker: str, present: Device) -> Device | None:
    """Another device that is idle now, while a campaign waits for the present one; None if none.

    A device is kept as long as it can be: what is known of its noise does not hold for another.
    """
    if settings.KOPT_DEVICE or not is_gated(present):
        return None
    others = [device for device in alike(present) if device.uuid != present.uuid]
    if not others or not waits_on(card_of(present), open_waits()):
        return None
    device, found, is_taken = ranked(others, worker)[0]
    return device if found.gate is not DeviceState.BUSY and not is_taken else None
