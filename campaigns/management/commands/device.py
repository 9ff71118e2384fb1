"""`device`: what this host can measure on, who uses it, and which workers live."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from campaigns.devices.discover import Device, devices
from campaigns.devices.hold import holder
from campaigns.devices.idle import look
from campaigns.management.door import Door, Verb
from campaigns.models import Worker
from knowledge.lookup import platform_for_device


class Command(Door):
    help = "The devices of this host and the workers of this installation."

    def verbs(self) -> tuple[Verb, ...]:
        return (Verb("list", "devices, their platforms and workers", self.list_all),)

    def list_all(self, **options: Any) -> None:
        found = [_device(device) for device in devices()]
        workers = [_worker(worker) for worker in Worker.objects.select_related("platform")]
        lines = [_device_line(row) for row in found] + [_worker_line(row) for row in workers]
        self.emit({"devices": found, "workers": workers}, "\n".join(lines))
        if not workers:
            self.progress("no worker has ever reported; start them with `python manage.py up`")


def _device(device: Device) -> dict[str, Any]:
    platform = platform_for_device(device.name)
    activity = look(device)
    return {
        "device": device.device,
        "kind": device.kind,
        "name": device.name,
        "platform": platform.slug if platform else None,
        "target": device.target,
        "memory_bytes": device.memory_bytes,
        "holder": holder(device),
        "other_processes": activity.others,
        "busy_percent": activity.busy_percent,
        "memory_used_bytes": activity.memory_used_bytes,
        "detail": dict(device.detail),
    }


def _worker(worker: Worker) -> dict[str, Any]:
    age_s = (timezone.now() - worker.heartbeat_at).total_seconds()
    return {
        "worker": worker.name,
        "device": worker.device,
        "platform": worker.platform.slug,
        "process_id": worker.pid,
        "heartbeat_age_s": round(age_s, 1),
    }


def _device_line(row: dict[str, Any]) -> str:
    busy = "unknown load" if row["busy_percent"] is None else f"{row['busy_percent']:.0f} % busy"
    others = len(row["other_processes"] or ())
    parts = [
        row["name"],
        f"platform {row['platform'] or 'not in the wiki yet'}",
        f"target {row['target']}",
        f"held by {row['holder']}" if row["holder"] else "free",
        f"{busy}, {others} other processes" if row["kind"] == "gpu" else busy,
    ]
    return f"{row['device']}: {'; '.join(parts)}"


def _worker_line(row: dict[str, Any]) -> str:
    return (
        f"worker {row['worker']}: {row['device']} of {row['platform']}, process "
        f"{row['process_id']}, heartbeat {row['heartbeat_age_s']:.0f} s ago"
    )
