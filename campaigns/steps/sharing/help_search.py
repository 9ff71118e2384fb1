"""Help with a search that another worker holds: try what it hands out, on this worker's device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from campaigns.devices.sweep.handed_out import HandedOut
from campaigns.devices.sweep.loop import SweepBroken
from campaigns.devices.sweep.shared_work import HelperWork
from campaigns.evaluator.contract import Job, Outcome, Phase, Report
from campaigns.models import Evaluation, Sweep
from campaigns.records.evaluations import is_searched, is_wanted_elsewhere
from campaigns.records.target.device_limits import device_limits
from campaigns.steps.measuring.sweep import screening_job
from campaigns.workers.context import WorkerContext


def help_search(
    share: Evaluation,
    job: Job,
    context: WorkerContext,
    folder: Path,
    beat: Callable[[str], None],
) -> Report:
    """Try variants until the search ends, or a measurement waits for a device of this platform.

    What `beat` raises is passed on.
    """
    campaign = share.campaign
    plan: Sweep = share.candidate.round.sweep
    most_shared_bytes = device_limits(campaign.platform).shared_bytes_per_block

    def alive() -> None:
        beat(Phase.BURST)

    def goes_on() -> bool:
        return is_searched(share) and not is_wanted_elsewhere(campaign)

    work = HelperWork(HandedOut(plan), share, most_shared_bytes, goes_on, alive)
    screening = screening_job(job, context.device.kind, plan.most_s)
    try:
        context.sweep(context.service, screening, folder, work, alive)
    except SweepBroken as broken:
        return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, str(broken))
    return Report(job.job_id, Outcome.PASSED, Phase.DONE, f"{work.done} variants tried.")
