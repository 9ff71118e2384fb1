"""Run a whole campaign in this process, without the queue."""

from __future__ import annotations

import time
from collections.abc import Callable

from campaigns.devices.processes import remove_left_tempdirs, worker_of
from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.transitions import WORKING
from campaigns.records.baselines import waiting_beside
from campaigns.steps.lifecycle.advance import advance
from campaigns.steps.measuring.evaluate import evaluate
from campaigns.steps.measuring.results import release_vanished, store_saved
from campaigns.steps.worker import WorkerContext, worker_beat

WAIT_S = 1.0


def run_here(key: int, context: WorkerContext, tell: Callable[[str], None]) -> Campaign:
    """Advance the campaign until it is finished or paused; `tell` is called with every new event.

    What another worker measures is waited for, and taken over when that worker vanishes. The
    campaign that is returned says by its state whether it is finished: a person may have paused it.
    Raises DeviceBusy when another process keeps the device for longer than the bench's patience.
    """
    remove_left_tempdirs()
    told, waited_for = 0, ""
    while True:
        campaign = Campaign.objects.select_related("problem", "platform", "protocol").get(pk=key)
        following = advance(campaign)
        wanted = following.measure or waiting_beside(campaign)
        measured = [evaluate(evaluation, context) for evaluation in wanted]
        # The state is read before the events, so that the last event is never missed.
        campaign.refresh_from_db()
        for event in campaign.events.filter(pk__gt=told):
            tell(event.message)
            told = event.pk
        if campaign.state not in WORKING and not (any(measured) and waiting_beside(campaign)):
            return campaign
        if following.again or any(measured):
            continue
        holder = _wait_for_another(campaign, context)
        if holder not in ("", waited_for):
            tell(f"waiting for worker {worker_of(holder)}, which measures this campaign")
        waited_for = holder


def _wait_for_another(campaign: Campaign, context: WorkerContext) -> str:
    """Show life and give other workers a moment; the holder of what is being measured, if any."""
    own = Evaluation.objects.filter(candidate__round__campaign=campaign)
    store_saved()
    release_vanished(own)
    worker_beat(context.worker.name, context.device)
    running = own.filter(state=EvaluationState.RUNNING).first()
    time.sleep(WAIT_S)
    return running.holder if running else ""
