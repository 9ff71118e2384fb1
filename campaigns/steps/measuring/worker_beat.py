"""A worker's sign of life."""

from __future__ import annotations

import os
import platform as host_platform
import sys

import django
from django.utils import timezone

from campaigns.devices.discover import Device, ensure_platform
from campaigns.models import Worker
from campaigns.workers.context import card_of


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
