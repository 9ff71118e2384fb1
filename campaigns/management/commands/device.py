"""`device`: what this host can measure on, what uses it, which workers live, and their noise."""

from __future__ import annotations

import platform as host
from typing import Any

import msgspec

from campaigns.devices.discover import Device, devices, this_device, watched
from campaigns.devices.hold import holder
from campaigns.devices.idle import is_gated, look_at_all
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract.sandbox import with_descendants
from campaigns.management.base_command import BaseCommand, ExitCode, Verb, argument
from campaigns.models import Passport, Worker
from campaigns.records.device_waits import open_waits
from campaigns.records.passports import (
    found_words,
    passport_facts,
    state_of,
    taken_facts,
    worker_facts,
)
from campaigns.rules.noise.device_gate import DeviceCheck, DeviceState
from campaigns.rules.wording import change, duration, share
from campaigns.steps.measuring.take_passport import ask_for_passport, take_passport
from campaigns.steps.notify import notify_worker
from campaigns.steps.worker import WorkerContext, card_of, worker_beat
from knowledge.lookup.value import platform_for_device

# The row under which this command's own passports are kept; they count for the whole device.
LOCAL = "local-passport"


class Command(BaseCommand):
    help = "The devices of this host and the workers of this installation."

    def verbs(self) -> tuple[Verb, ...]:
        which = argument(
            "--device", help="cpu or cuda:<index>; default: the device that kopt measures on"
        )
        asks = argument("--worker", help="have this worker take it; `device list` shows the names")
        return (
            Verb("list", "devices, their platforms and workers", self.list_all),
            Verb(
                "passport",
                "measure the noise of a device: compare a kernel with itself",
                self.passport,
                (which, asks),
            ),
            Verb("passports", "every noise passport of a device", self.passports, (which,)),
        )

    def passport(self, *, device: str | None, worker: str | None, **options: Any) -> None:
        if worker is not None:
            self._ask(worker, device)
            return
        found = this_device(device)
        own = worker_beat(LOCAL, found)
        self.progress(f"comparing a kernel with itself on {found.device}; a minute or a few")
        with EvaluatorService() as service:
            passport = take_passport("asked for by a command", WorkerContext(service, found, own))
        if passport is None:
            self.fail(
                ExitCode.USAGE, "a campaign is using the device; try again when it has finished"
            )
        if passport.error:
            self.fail(ExitCode.USAGE, passport.error)
        state = state_of(own)
        lines = [
            f"  {one.kernel:20} {duration(one.time_us):>9}: noise floor {share(one.floor)}, "
            f"bias {change(one.gain)} ({change(one.low)} to {change(one.high)}, "
            f"n={one.pairs} pairs), single samples ±{share(one.spread)}"
            for one in state.lengths
        ]
        self.emit(msgspec.to_builtins(passport_facts(state)), "\n".join([state.words, *lines]))

    def passports(self, *, device: str | None, **options: Any) -> None:
        found = this_device(device)
        rows = list(Passport.objects.filter(card=card_of(found)).select_related("worker"))
        lines = [
            f"{row.pk:4} {row.taken_at:%Y-%m-%d %H:%M} {row.worker.name}: {row.why}: "
            f"{found_words(row)}"
            for row in rows
        ]
        self.emit(msgspec.to_builtins([taken_facts(row) for row in rows]), "\n".join(lines))
        if not rows:
            self.progress("none yet; take one with `.venv/bin/python manage.py device passport`")

    def _ask(self, name: str, device: str | None) -> None:
        if device is not None:
            self.fail(
                ExitCode.USAGE, "--worker and --device cannot be combined: a worker has one device"
            )
        worker = Worker.objects.select_related("platform").filter(name=name).first()
        if worker is None:
            known = ", ".join(Worker.objects.values_list("name", flat=True)) or "none"
            self.fail(ExitCode.NOT_FOUND, f"worker '{name}': accepted: {known}")
        ask_for_passport(worker, None)
        notify_worker(worker)
        self.emit(
            msgspec.to_builtins(passport_facts(state_of(worker))),
            f"asked {name}; it takes the passport when no campaign needs its device",
        )

    def list_all(self, **options: Any) -> None:
        measured = devices()
        here = [*measured, *watched()]
        found = [
            {**_device(device, seen), "measured_on": device in measured}
            for device, seen in zip(here, look_at_all(here), strict=True)
        ]
        rows, waits = Worker.objects.select_related("platform"), open_waits()
        workers = msgspec.to_builtins(
            [worker_facts(worker, state_of(worker), waits) for worker in rows]
        )
        lines = [_device_line(row) for row in found] + [_worker_line(row) for row in workers]
        self.emit({"devices": found, "workers": workers}, "\n".join(lines))
        if not workers:
            self.progress("no workers yet; start them with `.venv/bin/python manage.py up`")


def _device(device: Device, seen: DeviceCheck) -> dict[str, Any]:
    """A device that one of our own processes holds is busy, whatever that one does just now."""
    platform, held_by = platform_for_device(device.name), holder(device)
    gate, why = (DeviceState.BUSY, f"held by {held_by}") if held_by else (seen.gate, seen.why)
    activity = seen.newest
    others = set(activity.others or ())
    for worker in Worker.objects.alive().filter(host=host.node()) if others and not held_by else ():
        # All of these processes belong to its evaluator.
        if others <= set(with_descendants(worker.pid)[1:]):
            why = f"worker {worker.name} keeps processes ready on it, for at most a minute"
            break
    return {
        "device": device.device,
        "kind": device.kind,
        "name": device.name,
        "platform": platform.slug if platform else None,
        "target": device.target,
        "memory_bytes": device.memory_bytes,
        "gate": gate.value,
        "why": why,
        "waited_for": is_gated(device),
        "holder": held_by,
        "other_processes": activity.others,
        "busy_percent": activity.busy_percent,
        "memory_used_bytes": activity.memory_used_bytes,
        "detail": dict(device.detail),
    }


def _device_line(row: dict[str, Any]) -> str:
    parts = [
        row["name"],
        f"platform {row['platform'] or 'not in the wiki yet'}",
        f"target {row['target'] or 'unknown'}",
        f"{row['gate']}, {row['why']}",
    ]
    parts += [] if row["measured_on"] else ["no backend measures on it yet"]
    return f"{row['device']}: {'; '.join(parts)}"


def _worker_line(row: dict[str, Any]) -> str:
    waits = "".join(f"; campaign {wait['campaign']} waits for it" for wait in row["waits"])
    return (
        f"worker {row['worker']}: {row['device']} of {row['platform']}, process "
        f"{row['process_id']}, heartbeat {row['heartbeat_age_s']:.0f} s ago; "
        f"{row['passport']['words']}{waits}"
    )
