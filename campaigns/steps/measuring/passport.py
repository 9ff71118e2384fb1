"""A worker's noise passport: when it is due, and taking it while nobody needs the device."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.hold import hold, holder
from campaigns.devices.host_facts import host_facts
from campaigns.devices.idle import look
from campaigns.devices.passport import BACKEND, PassportFails, Taken, take
from campaigns.evaluator.contract import dump
from campaigns.models import Evaluation, EvaluationState, Passport, PassportWish, Worker
from campaigns.models.transitions import WORKING
from campaigns.records.passports import open_wish, state_of
from campaigns.rules.noise.device_gate import CPU_BUSY_PERCENT
from campaigns.steps.measuring.worker_beat import worker_beat
from campaigns.workers.context import WorkerContext
from campaigns.workers.tempdirs import tempdir

log = logging.getLogger(__name__)

# What failed once mostly fails again: no compiler, no card. What was crowded may be quiet by then.
RETRY_AFTER = timedelta(hours=6)


class CampaignWaits(Exception):
    """A campaign needs the device now; the passport can wait."""


def passport_wanted(worker: Worker, device: Device) -> bool:
    """Whether this worker should take a passport now."""
    return is_free(worker, device) and bool(due(worker, device))


def ask_for(worker: Worker, who: User | None) -> PassportWish:
    """Note that a person wants a new passport; the worker takes it when its device is free."""

    return PassportWish.objects.create(worker=worker, asked_by=who)


def due(worker: Worker, device: Device) -> str:
    """Why this worker should take a passport, in words; empty where it need not."""
    note_host(worker, device)
    state, now = state_of(worker), timezone.now()
    if state.wish:
        return f"asked for by {state.wish.asked_by or 'a command'}"
    if not settings.KOPT_PASSPORT_DAYS:
        return ""
    if state.failed and now - state.failed.taken_at < RETRY_AFTER:
        return ""
    if state.passport is None:
        return "the worker is new"
    if state.stale:
        return f"the last one is stale: {'; '.join(state.stale)}"
    if now - state.passport.taken_at < RETRY_AFTER:
        return ""
    poor = state.failing or state.noisy
    return f"the last one is {state.word}: {'; '.join(poor)}" if poor else ""


def note_host(worker: Worker, device: Device) -> None:
    """Keep what the worker runs under in its row, for pages and for the next look."""
    versions = {**worker.versions, **host_facts(device)}
    if versions != worker.versions:
        worker.versions = versions
        Worker.objects.filter(pk=worker.pk).update(versions=versions)


def is_free(worker: Worker, device: Device) -> bool:
    """Whether nobody needs the device: no evaluation for a while, no holder, no other work.

    Whoever asks for a passport now has it now: only campaigns go first.
    """
    if _waiting(worker).exists() or holder(device) is not None:
        return False
    if open_wish(worker):
        return True
    recent = timezone.now() - timedelta(seconds=settings.KOPT_PASSPORT_QUIET_S)
    if worker.started_at > recent:
        return False
    if Evaluation.objects.filter(worker=worker, finished_at__gt=recent).exists():
        return False
    activity = look(device)
    if device.kind == "cpu":
        return activity.busy_percent is None or activity.busy_percent <= CPU_BUSY_PERCENT
    return activity.idle is not False


def take_passport(why: str, context: WorkerContext) -> Passport | None:
    """Measure and store a passport; a try that fails is stored with its error.

    None when a campaign came to need the device. Raises DeviceBusy before anything is measured.
    """
    note_host(context.worker, context.device)
    begun, wish = time.monotonic(), open_wish(context.worker)
    taken, error = None, ""
    with hold(context.device, wait_s=context.patience_s), tempdir("passport") as folder:
        try:
            taken = take(
                context.device, context.service, folder / "scratch", _PassportHeartbeat(context)
            )
        except CampaignWaits:
            log.info("passport of %s put off: a campaign needs the device", context.worker)
            return None
        except PassportFails as failed:
            error = str(failed)
    values = {"why": why[:300], "answers": wish, "error": error}
    return _store(context, values, time.monotonic() - begun, taken)


def _store(
    context: WorkerContext, said: dict[str, Any], wall_s: float, taken: Taken | None
) -> Passport:
    values: dict[str, Any] = {
        **said,
        "worker": context.worker,
        "card": context.worker.card,
        "device": context.device.device,
        "backend": BACKEND[context.device.kind],
        "host": dict(host_facts(context.device)),
        "wall_s": round(wall_s, 1),
    }
    if taken is not None:
        values |= {
            "lengths": [asdict(length) for length in taken.lengths],
            "conditions": asdict(taken.conditions),
            "failures": list(taken.failures),
            "reports": [json.loads(dump(report)) for report in taken.sessions],
        }
    return Passport.objects.create(**values)


def _waiting(worker: Worker) -> QuerySet[Evaluation]:
    """Evaluations that this worker could be measuring, or that somebody measures on it."""
    states = (EvaluationState.QUEUED, EvaluationState.RUNNING)
    return Evaluation.objects.filter(
        state__in=states,
        candidate__round__campaign__platform=worker.platform_id,
        candidate__round__campaign__state__in=WORKING,
    )


class _PassportHeartbeat:
    """Called every second: shows life, and gives way to a campaign."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._due = 0.0

    def __call__(self, phase: str) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + settings.KOPT_HEARTBEAT_S
        worker_beat(self._context.worker.name, self._context.device)
        if _waiting(self._context.worker).exists():
            raise CampaignWaits
