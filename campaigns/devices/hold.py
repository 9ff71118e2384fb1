"""One process holds a device at a time (R8): a kernel lock on a file named for it.

The lock goes with the process, however that ends, and stays while a child that inherited it runs:
such a child may still be using the device. Several hosts may share the data folder: a CPU of one
is not that of another, though its model is; containers of one host are one host.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.processes import boot_id

POLL_S = 0.1
# `holder` takes the lock for an instant to see whether it can; that must not look like a holder.
GLANCE_S = 0.5


class DeviceBusy(RuntimeError):
    """Another process holds the device; the message says which."""


@contextmanager
def hold(device: Device, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the device for the length of a `with`. DeviceBusy when it stays taken for `wait_s`.

    Half a second is waited in any case.
    """
    deadline = time.monotonic() + max(wait_s, GLANCE_S)
    with _lock_file(device).open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    message = f"{device.device} ({device.name}) is held by {_named(file)}"
                    raise DeviceBusy(message) from None
            time.sleep(POLL_S)
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()} {platform.node()}\n")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.truncate()
            file.flush()


def holder(device: Device) -> str | None:
    """The process that holds the device ("process 4711", "process 7 of box"); None when free."""
    path = _lock_file(device)
    if not path.exists():
        return None
    with path.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _named(file)
        return None


def _named(file: TextIO) -> str:
    file.seek(0)
    process_id, _, host = file.read().strip().partition(" ")
    named = f"process {process_id}" if process_id else "another process"
    return named if host in ("", platform.node()) else f"{named} of {host}"


def _lock_file(device: Device) -> Path:
    folder = Path(settings.DATA_DIR) / "devices"
    folder.mkdir(parents=True, exist_ok=True)
    name = device.uuid if device.kind == "gpu" else f"{device.uuid}-{boot_id().strip()}"
    return folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', name)}.lock"
