"""The noise passports of this host's devices: which hold, and what to do about the rest."""

from __future__ import annotations

import platform

from django.db import DatabaseError

from campaigns.devices.health.finding import HealthFinding, State
from campaigns.models import Worker
from campaigns.records.passport.passports import PassportState, state_of
from campaigns.rules.noise.passport import told_floor

COSTS = "verdicts use the noise of each campaign's own baseline"
NOISY_COSTS = "smaller gains cannot be shown on this device, so they are never accepted"
NOISY_REMEDY = "stop other programs on this host, then: .venv/bin/python manage.py device passport"
REMEDY = ".venv/bin/python manage.py device passport, or leave a worker idle for some minutes"
NONE = (
    "none yet: no worker of this host has held a device; .venv/bin/python manage.py device passport"
)


def examine_passports() -> list[HealthFinding]:
    """One line for each device that a worker of this host has held; the newest worker speaks."""
    try:
        workers = list(Worker.objects.filter(host=platform.node()).order_by("heartbeat_at"))
        newest = {worker.card or worker.device: worker for worker in workers}
        found = [_finding(worker, state_of(worker)) for worker in newest.values()]
    except DatabaseError:
        # The database has a finding of its own.
        return []
    return found or [HealthFinding("noise passport", State.NOTE, NONE)]


def _finding(worker: Worker, state: PassportState) -> HealthFinding:
    name = f"noise passport of {worker.device}"
    if state.word == "good":
        floors = ", ".join(map(told_floor, state.lengths))
        return HealthFinding(name, State.OK, f"{state.words}: {floors}")
    if state.word == "noisy":
        return HealthFinding(name, State.MISSING, state.words, NOISY_COSTS, NOISY_REMEDY)
    return HealthFinding(name, State.MISSING, state.words, COSTS, REMEDY)
