"""The noise passports of this host's devices: which hold, and what to do about the rest."""

from __future__ import annotations

import platform

from django.db import DatabaseError

from campaigns.devices.health.finding import Finding, State
from campaigns.models import Worker
from campaigns.records.passports import PassportState, state_of
from campaigns.rules.noise.passport import told_floor

COSTS = "verdicts stand on the noise of each campaign's own baseline"
NOISY_COSTS = "smaller gains are not shown on this device, and so never accepted"
NOISY_REMEDY = "leave the host to kopt alone, then: python manage.py device passport"
REMEDY = "python manage.py device passport, or leave a worker idle for some minutes"
NONE = "none yet: no worker of this host has held a device; python manage.py device passport"


def examine_passports() -> list[Finding]:
    """One line for each device that a worker of this host has held; the newest worker speaks."""
    try:
        workers = list(Worker.objects.filter(host=platform.node()).order_by("heartbeat_at"))
        newest = {worker.card or worker.device: worker for worker in workers}
        found = [_finding(worker, state_of(worker)) for worker in newest.values()]
    except DatabaseError:
        # The database has a finding of its own.
        return []
    return found or [Finding("noise passport", State.NOTE, NONE)]


def _finding(worker: Worker, state: PassportState) -> Finding:
    name = f"noise passport of {worker.device}"
    if state.word == "good":
        floors = ", ".join(map(told_floor, state.lengths))
        return Finding(name, State.OK, f"{state.words}: {floors}")
    if state.word == "noisy":
        return Finding(name, State.MISSING, state.words, NOISY_COSTS, NOISY_REMEDY)
    return Finding(name, State.MISSING, state.words, COSTS, REMEDY)
