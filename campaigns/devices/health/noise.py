"""What the workers of this host show against themselves: the least change that they can tell."""

from __future__ import annotations

import platform

from django.db import DatabaseError

from campaigns.devices.health.finding import Finding, State
from campaigns.models import Worker
from campaigns.rules.noise import noise_floor


def examine_noise() -> list[Finding]:
    """One line for each worker of this host and each backend that it has measured."""
    try:
        workers = list(Worker.objects.filter(host=platform.node()))
    except DatabaseError:
        # The database has a finding of its own.
        workers = []
    found = [
        Finding(f"noise of {worker.name}, {backend}", State.NOTE, _passport(passport))
        for worker in workers
        for backend, passport in sorted(worker.noise.items())
    ]
    none = "none recorded yet; the baseline of a worker's first campaign measures it"
    return found or [Finding("noise", State.NOTE, none)]


def _passport(passport: dict[str, float]) -> str:
    sigma = passport["sigma"]
    words = f"σ {sigma:.2%}, so changes from {noise_floor(sigma):.1%} can be told"
    return f"{words}; {passport['pairs']} pairs, {passport['at']}"
