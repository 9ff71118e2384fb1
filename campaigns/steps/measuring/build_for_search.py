"""Build what a search on another host hands out; no device is needed for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from campaigns.devices.discover import Device
from campaigns.devices.processes import ClaimLost, tempdir
from campaigns.devices.sweep.loop import SweepBroken, SweepWork, build_cache_of, run_sweep
from campaigns.devices.sweep.shared_work import BuilderWork, SweepOrders
from campaigns.evaluator.contract import Job, Outcome, Phase, Report, Source
from campaigns.evaluator.contract.files import load_line
from campaigns.models import Campaign, Evaluation, EvaluationKind, EvaluationState, SweepOrder
from campaigns.records.evaluations import is_searched
from campaigns.steps.measuring.claims import ClaimHeartbeat, begin
from campaigns.steps.measuring.evaluate import job_of
from campaigns.steps.measuring.results import record_report
from campaigns.steps.measuring.sweep import screening_job

LOOKS, LOOK_S = 10, 0.2
Loop = Callable[[Any, Job, Path, SweepWork, Callable[[], None]], None]


def build_for_search(key: int, worker: str, service: Any, loop: Loop = run_sweep) -> bool:
    """Build until the search ends; False where there was nothing for this host to claim.

    A host whose compiler, or whose target, makes something else of a source claims nothing.
    """
    rows = Evaluation.objects.select_related("candidate__round__campaign__platform")
    share = rows.filter(pk=key, kind=EvaluationKind.BUILD, state=EvaluationState.QUEUED).first()
    if share is None or not is_searched(share):
        return False
    orders = SweepOrders(share.candidate.round.sweep)
    with tempdir("builds") as folder:
        job = _job(share, folder)
        cache, first = build_cache_of(job), _first(orders)
        if first is None or cache.place_of(load_line(Source, first.source)).name != first.digest:
            return False
        if not begin(share, worker, Phase.BUILD.value):
            return False
        alive = partial(ClaimHeartbeat(share), Phase.BUILD)
        work = BuilderWork(orders, share, cache, lambda: is_searched(share), alive)
        try:
            loop(service, job, folder, work, alive)
            words = f"{work.done} variants built."
            report = Report(job.job_id, Outcome.PASSED, Phase.DONE, words)
        except ClaimLost:
            return True
        except (SweepBroken, OSError) as broken:
            report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.BUILD, str(broken))
    record_report(share, report)
    return True


def _first(orders: SweepOrders) -> SweepOrder | None:
    """A free order, by which to see what its search builds with; they come in its next turn."""
    for _ in range(LOOKS):
        if found := orders.first():
            return found
        time.sleep(LOOK_S)
    return None


def _job(share: Evaluation, folder: Path) -> Job:
    """The job of the search, as for a device of its platform that is not here."""
    campaign: Campaign = share.campaign
    platform = campaign.platform
    kind: Literal["cpu", "gpu"] = "gpu" if platform.kind == "gpu" else "cpu"
    name = "cuda:0" if kind == "gpu" else "cpu"
    absent = Device(kind, name, platform.name, platform.slug, platform.target, 0, "")
    return screening_job(job_of(share, absent, folder), kind, share.candidate.round.sweep.most_s)
