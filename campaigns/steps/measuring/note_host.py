"""Keep what a worker runs under in its row."""

from __future__ import annotations

from campaigns.devices.discover import Device
from campaigns.devices.host_facts import host_facts
from campaigns.models import Worker


def note_host(worker: Worker, device: Device) -> None:
    """Keep what the worker runs under in its row, for pages and for the next look."""
    versions = {**worker.versions, **host_facts(device)}
    if versions != worker.versions:
        worker.versions = versions
        Worker.objects.filter(pk=worker.pk).update(versions=versions)
