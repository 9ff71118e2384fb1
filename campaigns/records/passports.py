"""The noise passports of workers: which counts, what speaks against it, when one is due (R11)."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import DatabaseError, models
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.hold import holder
from campaigns.devices.host_software import HealthFinding, State
from campaigns.devices.idle import look
from campaigns.models import (
    DeviceWait,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Passport,
    Worker,
)
from campaigns.models.transitions import WORKING
from campaigns.records.device_waits import waits_on
from campaigns.records.values import picked
from campaigns.rules.noise.device_gate import MINUTE_PERCENT
from campaigns.rules.noise.passport import (
    USUAL_AGE,
    Conditions,
    Length,
    age_words,
    differences,
    noisy,
    told_floor,
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
    wish: Worker | None

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
        # With scheduling off (0 days) the usual age counts.
        most_age = timedelta(days=settings.KOPT_PASSPORT_DAYS) or USUAL_AGE
        stale = (*changed, *age_words(passport.taken_at, at or timezone.now(), most_age))
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


def open_wish(worker: Worker) -> Worker | None:
    """The worker as it is stored, where a person waits for a new passport of it; else None."""
    asked = Worker.objects.filter(pk=worker.pk, asked_at__isnull=False)
    return asked.select_related("asked_by").first()


class TakenFacts(msgspec.Struct, frozen=True):
    """When, by whom, why and under what one passport was taken."""

    id: int
    taken_at: str
    worker: str
    why: str
    backend: str
    host: dict[str, Any]
    failures: list[str]
    error: str
    wall_s: float


class PassportFacts(msgspec.Struct, frozen=True):
    """What is known of a worker's noise. lengths: by the length of a kernel."""

    state: str
    words: str
    doubts: list[str]
    noisy: list[str]
    passport: TakenFacts | None
    last_try_failed: str
    asked_at: str | None
    lengths: list[dict[str, Any]]
    conditions: dict[str, Any] | None


class WorkerFacts(msgspec.Struct, frozen=True):
    """A process that measures. waits: the campaigns that wait for its device."""

    id: int
    worker: str
    device: str
    platform: str
    process_id: int
    heartbeat_age_s: float
    alive: bool
    passport: PassportFacts
    waits: list[dict[str, Any]]


def worker_facts(
    worker: Worker, state: PassportState, waits: Iterable[DeviceWait] = ()
) -> WorkerFacts:
    """One worker with the state of its passport and with those of these waits for its device."""
    return WorkerFacts(
        id=worker.pk,
        worker=worker.name,
        device=worker.device,
        platform=worker.platform.slug,
        process_id=worker.pid,
        heartbeat_age_s=round(worker.silent_s, 1),
        alive=worker.is_alive,
        passport=passport_facts(state),
        waits=[
            {"campaign": wait.campaign_id, **wait.facts} for wait in waits_on(worker.card, waits)
        ],
    )


def passport_facts(state: PassportState) -> PassportFacts:
    """The state in a word and a sentence, the passport that counts, and what speaks against it."""
    return PassportFacts(
        state=state.word,
        words=state.words,
        doubts=list(state.doubts),
        noisy=list(state.noisy),
        passport=taken_facts(state.passport) if state.passport else None,
        last_try_failed=state.failed.error if state.failed else "",
        asked_at=state.wish.asked_at.isoformat() if state.wish and state.wish.asked_at else None,
        lengths=[{**asdict(length), "noise_floor": length.floor} for length in state.lengths],
        conditions=asdict(state.conditions) if state.passport else None,
    )


def taken_facts(passport: Passport) -> TakenFacts:
    """How one passport was taken."""
    return TakenFacts(
        **picked(passport, "taken_at why backend host failures error wall_s"),
        id=passport.pk,
        worker=passport.worker.name,
    )


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
    if is_needed(worker, device):
        return False
    return open_wish(worker) is not None or is_quiet(worker, device)


def is_needed(worker: Worker, device: Device) -> bool:
    """Whether a campaign waits for the device, or a process of ours holds it."""
    return awaited_evaluations(worker).exists() or holder(device) is not None


def is_quiet(worker: Worker, device: Device) -> bool:
    """Whether nothing was measured for a while, and nothing else runs on the device."""
    recent = timezone.now() - timedelta(seconds=settings.KOPT_PASSPORT_QUIET_S)
    if worker.started_at > recent:
        return False
    if Evaluation.objects.filter(worker=worker, finished_at__gt=recent).exists():
        return False
    activity = look(device)
    if device.kind == "cpu":
        return activity.busy_percent is None or activity.busy_percent <= MINUTE_PERCENT
    return activity.idle is not False


def awaited_evaluations(worker: Worker) -> QuerySet[Evaluation]:
    """Evaluations that this worker could be measuring, or that somebody measures on it.

    The series goes after everything else.
    """
    states = (EvaluationState.QUEUED, EvaluationState.RUNNING)
    return Evaluation.objects.filter(
        state__in=states,
        candidate__round__campaign__platform=worker.platform_id,
        candidate__round__campaign__state__in=WORKING,
    ).exclude(kind=EvaluationKind.SERIES)


COSTS = "verdicts use the noise of each campaign's own baseline"
NOISY_COSTS = "for kernels of that length no smaller gain is accepted on this device"
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
        states = [(f"noise passport of {one.device}", state_of(one)) for one in newest.values()]
    except DatabaseError:
        # The database has a finding of its own.
        return []
    found = []
    for name, state in states:
        if state.word == "good":
            floors = ", ".join(map(told_floor, state.lengths))
            found.append(HealthFinding(name, State.OK, f"{state.words}: {floors}"))
        else:
            noisy = state.word == "noisy"
            costs, remedy = (NOISY_COSTS, NOISY_REMEDY) if noisy else (COSTS, REMEDY)
            found.append(HealthFinding(name, State.MISSING, state.words, costs, remedy))
    return found or [HealthFinding("noise passport", State.NOTE, NONE)]
