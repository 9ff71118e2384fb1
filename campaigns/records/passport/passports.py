"""The noise passports of a worker as they stand: which one counts, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import models
from django.utils import timezone

from campaigns.models import DeviceWait, Passport, PassportWish, Worker
from campaigns.records.device_waits import waits_on
from campaigns.rules.noise.passport import (
    USUAL_AGE,
    Conditions,
    Length,
    age_words,
    differences,
    noisy,
)


@dataclass(frozen=True, slots=True)
class PassportState:
    """What is known of one worker's noise.

    passport: the newest that holds numbers. stale, failing: why it should not be relied on.
    failed: the newest try, where it came to nothing. wish: a request that is still open.
    """

    passport: Passport | None
    lengths: tuple[Length, ...]
    conditions: Conditions
    stale: tuple[str, ...]
    failing: tuple[str, ...]
    failed: Passport | None
    wish: PassportWish | None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Every reason not to rely on it."""
        return (*self.failing, *self.stale)

    @property
    def noisy(self) -> tuple[str, ...]:
        """Where it can tell no success from nothing; its floor is true and counts all the same."""
        return noisy(self.lengths)

    @property
    def word(self) -> str:
        """none, failing, stale, noisy or good."""
        if self.passport is None:
            return "none"
        if self.doubts:
            return "failing" if self.failing else "stale"
        return "noisy" if self.noisy else "good"

    @property
    def words(self) -> str:
        """One sentence for people."""
        if self.passport is None:
            tried = f"; the last try failed: {self.failed.error}" if self.failed else ""
            return f"no noise passport yet{tried}"
        named = f"noise passport {self.passport.pk}"
        if self.doubts:
            return f"{named} is {self.word}: {'; '.join(self.doubts)}"
        holds = f"{named} of {self.passport.taken_at:%Y-%m-%d} holds"
        return f"{holds}, and is noisy: {'; '.join(self.noisy)}" if self.noisy else holds


def most_age() -> timedelta:
    """How old a passport may be. With scheduling off (0 days) the usual age counts."""
    return timedelta(days=settings.KOPT_PASSPORT_DAYS) or USUAL_AGE


def state_of(worker: Worker, at: datetime | None = None) -> PassportState:
    """The state of a worker's passport. One of the same device counts, whichever worker took it.

    at: as it stood then, when something was measured; what was taken later is not looked at, or a
    verdict could be had by taking passports until one suits it.
    """
    rows = of_device(worker) if at is None else of_device(worker).filter(taken_at__lte=at)
    tries = list(rows[:1])
    passport = tries[0] if tries and not tries[0].error else rows.filter(error="").first()
    stale: tuple[str, ...] = ()
    if passport is not None:
        known = {name: worker.versions[name] for name in passport.host if name in worker.versions}
        then = {name: passport.host[name] for name in known}
        changed = differences(then, known)
        stale = (*changed, *age_words(passport.taken_at, at or timezone.now(), most_age()))
    return PassportState(
        passport=passport,
        lengths=lengths_in(passport) if passport else (),
        conditions=msgspec.convert(passport.conditions if passport else {}, Conditions),
        stale=stale,
        failing=tuple(passport.failures) if passport else (),
        failed=tries[0] if tries and tries[0].error else None,
        wish=open_wish(worker),
    )


def of_device(worker: Worker) -> models.QuerySet[Passport]:
    """Every passport of the worker's device, the newest first, without the raw sessions."""
    card = {"card": worker.card} if worker.card else {"worker": worker}
    return Passport.objects.filter(**card).defer("reports").order_by("-pk")


def lengths_in(passport: Passport) -> tuple[Length, ...]:
    """The kernel lengths that it holds. Raises msgspec.ValidationError."""
    return msgspec.convert(passport.lengths, tuple[Length, ...])


def found_words(passport: Passport) -> str:
    """What one passport came to, whether it is the newest or not."""
    too_much = noisy(lengths_in(passport))
    against = [passport.error] if passport.error else passport.failures or too_much
    return "; ".join(against) or "good"


def open_wish(worker: Worker) -> PassportWish | None:
    """The newest request, where no passport answers it; None where there is none."""
    wish = PassportWish.objects.filter(worker=worker).select_related("asked_by").first()
    return None if wish is None or wish.passports.exists() else wish


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
