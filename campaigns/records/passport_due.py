"""When a worker's noise passport is due, and whether its device is free for it (R11)."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.hold import holder
from campaigns.devices.idle import look
from campaigns.models import Evaluation, EvaluationState, Worker
from campaigns.models.transitions import WORKING
from campaigns.records.passports import open_wish, state_of
from campaigns.rules.noise.device_gate import CPU_BUSY_PERCENT

# What failed once mostly fails again: no compiler, no card. What was crowded may be quiet by then.
RETRY_AFTER = timedelta(hours=6)


def passport_wanted(worker: Worker, device: Device) -> str:
    """Why this worker should take a passport now; empty while it need not or the device is busy."""
    return due(worker) if is_free(worker, device) else ""


def due(worker: Worker) -> str:
    """Why this worker should take a passport, in words; empty where it need not."""
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


def is_free(worker: Worker, device: Device) -> bool:
    """Whether nobody needs the device: no evaluation for a while, no holder, no other work.

    Whoever asks for a passport now has it now: only campaigns go first.
    """
    if awaited_evaluations(worker).exists() or holder(device) is not None:
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


def awaited_evaluations(worker: Worker) -> QuerySet[Evaluation]:
    """Evaluations that this worker could be measuring, or that somebody measures on it."""
    states = (EvaluationState.QUEUED, EvaluationState.RUNNING)
    return Evaluation.objects.filter(
        state__in=states,
        candidate__round__campaign__platform=worker.platform_id,
        candidate__round__campaign__state__in=WORKING,
    )
