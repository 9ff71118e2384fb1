"""Celery tasks, each of which calls one step for a row's key and notifies; a worker's heartbeat."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings
from django.db import OperationalError, close_old_connections, connection

from campaigns.devices.discover import Device, this_device
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.processes import remove_left_tempdirs
from campaigns.models import Campaign, Worker
from campaigns.records.passports import passport_wanted
from campaigns.repositories.rounds import notify_next_round, notify_round, release_rounds
from campaigns.repositories.try_change import try_change
from campaigns.steps.lifecycle.advance import advance as take_step
from campaigns.steps.lifecycle.finish import give_up
from campaigns.steps.lifecycle.reconcile import reconcile
from campaigns.steps.mail import ring_for_mail
from campaigns.steps.mail import write_mail as write_to
from campaigns.steps.measuring.baselines import remind_of_baselines
from campaigns.steps.measuring.evaluate import evaluate as measure_row
from campaigns.steps.measuring.reproduce import reproduce
from campaigns.steps.measuring.results import store_saved
from campaigns.steps.measuring.series import continue_series
from campaigns.steps.measuring.take_passport import take_passport
from campaigns.steps.notify import AGAIN, notify, notify_worker
from campaigns.steps.review.decide import carry_out_reruns
from campaigns.steps.webhooks import BACKOFF_S, call, send_news
from campaigns.steps.worker import (
    WorkerContext,
    change_device,
    choose_device,
    note_host,
    worker_beat,
)
from knowledge.exchange.in_parts import ring_for_imports, work_on
from knowledge.lookup.database import require_migrations

log = logging.getLogger(__name__)

PLATFORM_QUEUE = "platform."
# A lease may end right after a check; three checks a minute find it within a minute.
RECONCILE_EVERY_S = 20.0


class Heartbeat(threading.Thread):
    """A worker's thread that shows life and finds lost work. It beats until `stop`.

    It is a thread because a task would wait in the queue whose losses it has to find.

    device: what this worker measures on; None for one that only advances.
    A worker that moves to another device sets it here.
    """

    def __init__(self, name: str, device: Device | None) -> None:
        super().__init__(name=f"heartbeat of {name}", daemon=True)
        self._worker = name
        self.device = device
        self._ended = threading.Event()
        self._look_at = 0.0
        self._swept = False

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self.beat()
            except Exception:
                # Without a heartbeat the other workers would take this one for dead.
                log.exception("%s: a turn failed; the next follows", self.name)
            close_old_connections()
            self._ended.wait(settings.KOPT_HEARTBEAT_S)
        connection.close()

    def beat(self) -> None:
        """Show life, store what was kept, and when due find lost work and a due passport."""
        require_migrations()
        worker = worker_beat(self._worker, self.device) if self.device else None
        if not self._swept:
            self._swept = True
            for folder in remove_left_tempdirs():
                log.info("removed %s, which an ended process left", folder)
        for campaign, following in store_saved():
            notify(campaign, following)
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + RECONCILE_EVERY_S
        for look in (reconcile, reproduce, remind_of_baselines, carry_out_reruns):
            for campaign, following in look():
                notify(campaign, following)
        for row in release_rounds():
            notify_round(row)
        ring_for_imports()
        send_news()
        ring_for_mail()
        if worker and self.device:
            self._use_idle(worker, self.device)

    def _use_idle(self, worker: Worker, device: Device) -> None:
        """See what is due on a device that nobody needs: the series, and a passport."""
        note_host(worker, device)
        for campaign, following in continue_series(worker, device):
            notify(campaign, following)
        if passport_wanted(worker, device):
            notify_worker(worker)

    def stop(self) -> None:
        """End the thread and wait for its last turn."""
        self._ended.set()
        self.join(timeout=5)


class _Process:
    """What this worker process keeps: its evaluator service, its device and its heartbeat.

    starting: the thread that starts the service; nobody else touches that meanwhile.
    """

    service: EvaluatorService | None = None
    starting: threading.Thread | None = None
    device: Device | None = None
    heartbeat: Heartbeat | None = None


@shared_task
def advance(key: int) -> None:
    """Take the steps of a campaign until it has to wait."""
    rows = Campaign.objects.select_related("problem", "platform", "incumbent__round")
    following = AGAIN
    while following.again and (campaign := rows.filter(pk=key).first()):
        try:
            following = take_step(campaign)
        except Exception as error:
            log.exception("campaign %s: the step from %s failed", campaign.pk, campaign.state)
            following = give_up(campaign, error)
        notify(campaign, replace(following, again=False))


@shared_task(bind=True)
def measure(self: Any, key: int) -> None:
    """Measure one evaluation on this worker's device, or on a free one of the same kind."""
    name = self.request.hostname
    campaign = _measure_here(key, name)
    if campaign is None and _Process.device:
        # Other programs may use the present device, and another one may be free.
        found = change_device(name, _Process.device)
        if found is not None:
            words = "worker %s changes to %s, because other programs use its device"
            log.warning(words, name, found.device)
            _take(found)
            campaign = _measure_here(key, name)
    if campaign is not None:
        notify(campaign, AGAIN)


def _measure_here(key: int, name: str) -> Campaign | None:
    try:
        return measure_row(key, _context(name))
    except DeviceBusy as busy:
        log.warning("evaluation %s waits: %s", key, busy)
        return None


def _take(device: Device) -> Device:
    _Process.device = device
    if _Process.heartbeat is not None:
        _Process.heartbeat.device = device
    return device


@shared_task
def wiki_import(key: int) -> None:
    """Plan or carry out an import of many files."""
    work_on(key)


@shared_task(bind=True, max_retries=len(BACKOFF_S))
def call_webhook(self: Any, key: int, kind: str, source: str, body: str) -> None:
    """Send one message to an address that asked for it, and again later where it fails."""
    tried = self.request.retries
    if not call(key, kind, source, body) and tried < len(BACKOFF_S):
        raise self.retry(countdown=BACKOFF_S[tried])


@shared_task
def write_mail(key: int) -> None:
    """Write to one person what they have not read."""
    write_to(key)


@shared_task(bind=True)
def repository_round(self: Any, key: int) -> None:
    """Try one round of a repository with its own harness on this worker's device."""
    try:
        repository = try_change(key, _context(self.request.hostname))
    except DeviceBusy as busy:
        log.warning("round %s of a repository waits: %s", key, busy)
        return
    if repository is not None:
        notify_next_round(repository)


@shared_task(bind=True)
def passport(self: Any, name: str) -> None:
    """Take this worker's noise passport, if it is still due and the device is not needed.

    Workers of a platform share a queue. A notification for another worker is dropped; its own next
    check sends it again.
    """
    if self.request.hostname != name:
        return
    context = _context(name)
    note_host(context.worker, context.device)
    why = passport_wanted(context.worker, context.device)
    try:
        if why:
            take_passport(why, context)
    except DeviceBusy as busy:
        log.warning("passport of %s waits: %s", name, busy)


def _context(hostname: str) -> WorkerContext:
    device = _Process.device or _take(choose_device(hostname))
    return WorkerContext(_service(), device, worker_beat(hostname, device), serves_all=True)


def _service() -> EvaluatorService:
    if _Process.starting is not None:
        _Process.starting.join()
    if _Process.service is None:
        _Process.service = EvaluatorService(lends=True)
    return _Process.service


@worker_ready.connect
def start_heartbeat(sender: Any, **_: Any) -> None:
    """Start the heartbeat, and beside it the service of a worker that measures.

    The heartbeat's first turn reconciles, so the work of a killed worker continues.
    """
    queues = sender.app.amqp.queues.consume_from
    measures = any(name.startswith(PLATFORM_QUEUE) for name in queues)
    if measures:
        try:
            _Process.device = choose_device(sender.hostname)
        except OperationalError:
            # The heartbeat goes on without a database and logs when it is back.
            _Process.device = this_device()
        _Process.starting = threading.Thread(target=_service().start, daemon=True)
        _Process.starting.start()
    _Process.heartbeat = Heartbeat(sender.hostname, _Process.device)
    _Process.heartbeat.start()


@worker_shutdown.connect
def end_process(**_: Any) -> None:
    """Stop the heartbeat and the evaluator service."""
    if _Process.heartbeat is not None:
        _Process.heartbeat.stop()
    if _Process.service is not None:
        _service().close()
