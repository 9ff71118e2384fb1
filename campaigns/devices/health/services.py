"""What kopt itself stands on: devices, database, broker, disk and shared memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import django.db
from celery import current_app
from django.conf import settings
from django.db import connection
from kombu.exceptions import OperationalError

from campaigns.devices.discover import Device, torch_has_cuda, watched
from campaigns.devices.health.finding import HealthFinding, State
from knowledge.lookup.migrations import REMEDY, missing_migrations

GIB = 2**30
DISK_BYTES = GIB
# Two runners of a CPU comparison share up to 1 GiB of buffers each with the judge.
SHARED_BYTES = 2 * GIB
SHARED = Path("/dev/shm")
BROKER_WAIT_S = 3


def examine_services(devices: list[Device]) -> list[HealthFinding]:
    """Devices, database, broker, disk and shared memory."""
    return [*_devices(devices), *_watched(), _database(), _broker(), _disk(), _shared_memory()]


def _devices(devices: list[Device]) -> list[HealthFinding]:
    found = [
        HealthFinding(
            f"device {device.device}",
            State.OK,
            f"{device.name}, {device.memory_bytes / GIB:.0f} GiB, {device.target}, "
            + ", ".join(f"{key} {value}" for key, value in device.detail.items()),
        )
        for device in devices
    ]
    if any(device.kind == "gpu" for device in devices) and not torch_has_cuda():
        found.append(
            HealthFinding(
                "torch for CUDA",
                State.MISSING,
                "the installed torch was built without CUDA",
                "the GPU is not used",
                "install a CUDA build of torch: https://pytorch.org/get-started/locally",
            )
        )
    return found


def _watched() -> list[HealthFinding]:
    return [
        HealthFinding(
            f"device {device.device}",
            State.NOTE,
            f"{device.name}, {device.memory_bytes / GIB:.0f} GiB, {device.target or 'no target'}: "
            "listed only; no backend measures on it yet",
        )
        for device in watched()
    ]


def _database() -> HealthFinding:
    costs, remedy = "nothing is stored", f"check DATABASE_URL, then {REMEDY}"
    try:
        connection.ensure_connection()
        waiting = missing_migrations()
    except django.db.Error as error:
        said = str(error).strip().partition("\n")[0]
        return HealthFinding(
            "database", State.REQUIRED, f"{connection.vendor}: {said}", costs, remedy
        )
    if waiting:
        found = f"{connection.vendor}: {len(waiting)} migrations to do"
        return HealthFinding("database", State.MISSING, found, costs, REMEDY)
    return HealthFinding("database", State.OK, connection.vendor)


def _broker() -> HealthFinding:
    try:
        with current_app.connection_for_write() as link:
            link.ensure_connection(max_retries=1, timeout=BROKER_WAIT_S)
            name = str(link.transport.driver_type)
    # kombu raises KeyError for a scheme that it does not know.
    except (OSError, OperationalError, KeyError) as error:
        said = str(error).strip("'").partition("\n")[0]
        remedy = "check KOPT_BROKER_URL, or unset it for the embedded queue"
        return HealthFinding("broker", State.REQUIRED, said, "no campaign runs", remedy)
    return HealthFinding("broker", State.OK, name)


def _disk() -> HealthFinding:
    free = shutil.disk_usage(settings.DATA_DIR).free
    found = f"{free / GIB:.1f} GiB free in {settings.DATA_DIR}"
    state = State.OK if free >= DISK_BYTES else State.REQUIRED
    return HealthFinding(
        "disk", state, found, "evaluations end as broken_host", "free 1 GiB or more"
    )


def _shared_memory() -> HealthFinding:
    if not SHARED.is_dir():
        return _short_of_memory("none")
    total = shutil.disk_usage(SHARED).total
    found = f"{total / GIB:.1f} GiB in {SHARED}"
    return (
        HealthFinding("shared memory", State.OK, found)
        if total >= SHARED_BYTES
        else _short_of_memory(found)
    )


def _short_of_memory(found: str) -> HealthFinding:
    costs = "fewer slots in a burst on the CPU, so wider intervals"
    remedy = "mount a larger tmpfs; in Docker: --shm-size=2g"
    return HealthFinding("shared memory", State.MISSING, found, costs, remedy)
