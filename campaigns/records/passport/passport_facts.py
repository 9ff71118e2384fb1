"""Workers and their noise passports as plain data, for the API and for `--json`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from campaigns.models import DeviceWait, Passport, Worker
from campaigns.records.device_waits import waits_on
from campaigns.records.passport.passports import PassportState


def worker_facts(
    worker: Worker, state: PassportState, waits: Iterable[DeviceWait] = ()
) -> dict[str, Any]:
    """One worker with the state of its passport and with those of these waits for its device."""
    return {
        "id": worker.pk,
        "worker": worker.name,
        "device": worker.device,
        "platform": worker.platform.slug,
        "process_id": worker.pid,
        "heartbeat_age_s": round(worker.silent_s, 1),
        "alive": worker.is_alive,
        "passport": passport_facts(state),
        "waits": [
            {"campaign": wait.campaign_id, **wait.facts} for wait in waits_on(worker.card, waits)
        ],
    }


def passport_facts(state: PassportState) -> dict[str, Any]:
    """The state in a word and a sentence, the passport that counts, and what speaks against it."""
    return {
        "state": state.word,
        "words": state.words,
        "doubts": list(state.doubts),
        "noisy": list(state.noisy),
        "passport": taken_facts(state.passport) if state.passport else None,
        "last_try_failed": state.failed.error if state.failed else "",
        "asked_at": state.wish.asked_at.isoformat() if state.wish else None,
        "lengths": [{**asdict(length), "noise_floor": length.floor} for length in state.lengths],
        "conditions": asdict(state.conditions) if state.passport else None,
    }


def taken_facts(passport: Passport) -> dict[str, Any]:
    """When, by whom, why and under what one passport was taken."""
    return {
        "id": passport.pk,
        "taken_at": passport.taken_at.isoformat(),
        "worker": passport.worker.name,
        "why": passport.why,
        "backend": passport.backend,
        "host": passport.host,
        "failures": passport.failures,
        "error": passport.error,
        "wall_s": passport.wall_s,
    }
