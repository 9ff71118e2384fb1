"""A worker's noise passport: asking for one, and taking it while nobody needs the device."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from campaigns.devices.hold import hold
from campaigns.devices.passport import BACKEND, PassportFails, host_facts, take
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract.files import dump
from campaigns.models import Passport, Worker
from campaigns.records.passports import awaited_evaluations, open_wish
from campaigns.steps.measuring.claims import renew_connection
from campaigns.steps.worker import WorkerContext, note_host, worker_beat

log = logging.getLogger(__name__)


class CampaignWaits(Exception):
    """A campaign needs the device now; the passport can wait."""


def take_passport(why: str, context: WorkerContext) -> Passport | None:
    """Measure and store a passport; a try that fails is stored with its error.

    None when a campaign came to need the device. Raises DeviceBusy before anything is measured.
    """
    worker, device = context.worker, context.device
    note_host(worker, device)
    begun, wish = time.monotonic(), open_wish(worker)
    values: dict[str, Any] = {"why": why[:300]}
    with hold(device, wait_s=context.patience_s), tempdir("passport") as folder:
        try:
            taken = take(device, context.service, folder / "scratch", _PassportHeartbeat(context))
            values |= {
                "lengths": [asdict(length) for length in taken.lengths],
                "conditions": asdict(taken.conditions),
                "failures": list(taken.failures),
                "reports": [json.loads(dump(report)) for report in taken.sessions],
            }
        except CampaignWaits:
            log.info("passport of %s put off: a campaign needs the device", worker)
            return None
        except PassportFails as failed:
            values["error"] = str(failed)
    wall_s = round(time.monotonic() - begun, 1)
    renew_connection()
    passport = Passport.objects.create(
        worker=worker,
        card=worker.card,
        device=device.device,
        backend=BACKEND[device.kind],
        host=dict(host_facts(device)),
        wall_s=wall_s,
        **values,
    )
    if wish is not None:
        # A request that came meanwhile stays open.
        answered = Worker.objects.filter(pk=wish.pk, asked_at=wish.asked_at)
        answered.update(asked_at=None, asked_by=None)
    return passport


class _PassportHeartbeat:
    """Called every second: shows life, and gives way to a campaign."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._due = 0.0

    def __call__(self, phase: str) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + settings.KOPT_HEARTBEAT_S
        renew_connection()
        try:
            worker_beat(self._context.worker.name, self._context.device)
            is_needed = awaited_evaluations(self._context.worker).exists()
        except (OperationalError, InterfaceError) as error:
            log.warning("heartbeat not written: %s", error)
            return
        if is_needed:
            raise CampaignWaits


def ask_for_passport(worker: Worker, who: User | None) -> None:
    """Note that a person wants a new passport; the worker takes it when its device is free."""
    Worker.objects.filter(pk=worker.pk).update(asked_at=timezone.now(), asked_by=who)
