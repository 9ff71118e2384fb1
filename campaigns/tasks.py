"""The queue's doors: each task takes a row's key, calls one step and rings for what follows."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.db import OperationalError

from campaigns.devices.discover import Device, this_device
from campaigns.devices.hold import DeviceBusy
from campaigns.devices.launch import EvaluatorService
from campaigns.models import Campaign
from campaigns.records.passport_due import passport_wanted
from campaigns.steps.lifecycle.advance import advance as take_step
from campaigns.steps.lifecycle.give_up import give_up
from campaigns.steps.measuring.change_device import change_device
from campaigns.steps.measuring.choose_device import choose_device
from campaigns.steps.measuring.evaluate import evaluate as measure_row
from campaigns.steps.measuring.note_host import note_host
from campaigns.steps.measuring.take_passport import take_passport
from campaigns.steps.measuring.worker_beat import worker_beat
from campaigns.workers import heartbeat
from campaigns.workers.context import WorkerContext
from campaigns.workers.notify import AGAIN, Next, notify

log = logging.getLogger(__name__)

PLATFORM_QUEUE = "platform."


class _Process:
    """What lives as long as this worker process: its evaluator service, its device, its pulse."""

    service: EvaluatorService | None = None
    device: Device | None = None
    pulse: heartbeat.Heartbeat | None = None


@shared_task
def advance(key: int) -> None:
    """Take the campaign's steps until it has to wait for somebody else."""
    rows = Campaign.objects.select_related("problem", "platform", "incumbent__round")
    following = AGAIN
    while following.again and (campaign := rows.filter(pk=key).first()):
        following = _step_or_give_up(campaign)
        notify(campaign, replace(following, again=False))


def _step_or_give_up(campaign: Campaign) -> Next:
    try:
        return take_step(campaign)
    except Exception as error:
        log.exception("campaign %s: the step from %s failed", campaign.pk, campaign.state)
        return give_up(campaign, error)


@shared_task(bind=True)
def measure(self: Any, key: int) -> None:
    """Measure one evaluation on this worker's device, or on one alike that others do not use."""
    name = self.request.hostname
    campaign = _measure_here(key, name)
    if campaign is None and _move(name):
        campaign = _measure_here(key, name)
    if campaign is not None:
        notify(campaign, AGAIN)


def _measure_here(key: int, name: str) -> Campaign | None:
    try:
        return measure_row(key, _context(name))
    except DeviceBusy as busy:
        log.warning("evaluation %s waits: %s", key, busy)
        return None


def _move(name: str) -> bool:
    """Take another device where others use the present one."""
    found = change_device(name, _Process.device) if _Process.device else None
    if found is None:
        return False
    log.warning("worker %s goes on with %s, as others use its device", name, found.device)
    _take(found)
    return True


def _take(device: Device) -> Device:
    _Process.device = device
    if _Process.pulse is not None:
        _Process.pulse.device = device
    return device


@shared_task(bind=True)
def passport(self: Any, name: str) -> None:
    """Take this worker's noise passport, if it is still due and nobody needs the device.

    The queue belongs to the platform: the ring for another worker is left to its next look.
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
    if _Process.service is None:
        _Process.service = EvaluatorService()
    return WorkerContext(_Process.service, device, worker_beat(hostname, device))


@worker_ready.connect
def start_pulse(sender: Any, **_: Any) -> None:
    """Start the heartbeat; its first turn reconciles, so what a killed worker held goes on."""
    queues = sender.app.amqp.queues.consume_from
    measures = any(name.startswith(PLATFORM_QUEUE) for name in queues)
    if measures:
        try:
            _Process.device = choose_device(sender.hostname)
        except OperationalError:
            # The pulse goes on without a database, and says when it is back.
            _Process.device = this_device()
    _Process.pulse = heartbeat.Heartbeat(sender.hostname, _Process.device)
    _Process.pulse.start()


@worker_shutdown.connect
def end_process(**_: Any) -> None:
    """Stop the heartbeat and the evaluator service."""
    if _Process.pulse is not None:
        _Process.pulse.stop()
    if _Process.service is not None:
        _Process.service.close()
