"""Measure one candidate: claim the row, run the job, write the facts down once."""

from __future__ import annotations

import errno
import logging
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from campaigns.devices.discover import Device
from campaigns.devices.environment import environment_of
from campaigns.devices.explain import count_kernels, read_code, sanitize
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.devices.idle import is_gated
from campaigns.devices.processes import ClaimLost, is_gone, is_here, tempdir, worker_of
from campaigns.evaluator.contract import Case, Job, Outcome, Phase, Report
from campaigns.evaluator.contract.files import protocol_from
from campaigns.evaluator.contract.report import CROWDED
from campaigns.models import Campaign, Cause, Evaluation, EvaluationKind, EvaluationState, Worker
from campaigns.models.evaluation import CARD, GATE, PROTOCOL
from campaigns.models.kinds import EvaluationRole
from campaigns.models.transitions import WORKING
from campaigns.records.baselines import may_be_measured
from campaigns.records.cases import cases_of
from campaigns.records.device_waits import is_put_off
from campaigns.records.evaluations import may_reproduce, rivals_of
from campaigns.records.noise import floor_ahead, met_load
from campaigns.rules.noise.device_gate import QUIET, DeviceCheck, DeviceState
from campaigns.rules.noise.drift import taken_by_others
from campaigns.steps.measuring.baselines import (
    RoundWaits,
    gives_way,
    let_round_first,
    require_no_round,
    torch_job,
)
from campaigns.steps.measuring.claims import ClaimHeartbeat, begin, renew_connection
from campaigns.steps.measuring.results import not_measured, record_report, save_result
from campaigns.steps.measuring.sweep import sweep
from campaigns.steps.measuring.waits import end_wait, wait_for_device
from campaigns.steps.problems import materialise
from campaigns.steps.worker import WorkerContext, card_of, worker_beat
from campaigns.syntax.language import judging
from knowledge.lookup.database import full_disk

log = logging.getLogger(__name__)


def evaluate(key: int, context: WorkerContext) -> Campaign | None:
    """Measure the evaluation of that key; return its campaign, which may then advance.

    None when there was nothing to claim, the claim was lost, a round goes before torch, or other
    programs use the device, or still the host on which it has met load: then the evaluation waits,
    and only a campaign that has waited too long is returned, to be paused. Raises DeviceBusy before
    anything is claimed while another process or worker of ours holds it. In all these cases a
    heartbeat notifies again.
    """
    evaluation = _wanted(key, context)
    if evaluation is None or is_put_off(evaluation, context.worker.card):
        return None
    try:
        with hold(context.device, wait_s=context.patience_s):
            if context.device.kind == "gpu":
                # A crew of ours may wait on it, and must not be seen as somebody else's.
                context.service.rest()
            found = context.look(context.device)
            if found.gate is DeviceState.BUSY and is_gated(context.device):
                return wait_for_device(evaluation, context.worker, Cause.BUSY, found.why)
            if met_load(evaluation, context.device.kind):
                host = context.look_at_host()
                if host.gate is DeviceState.BUSY:
                    return wait_for_device(evaluation, context.worker, Cause.BUSY, host.why, QUIET)
            if not _claim(evaluation, context):
                return None
            report = _run(evaluation, context)
            if report is None:
                return None
            facts = _facts(evaluation, context.device, found)
            return _finish(evaluation, _completed(report, facts))
    except DeviceBusy as busy:
        wait_for_device(evaluation, context.worker, Cause.HELD, str(busy))
        raise


def _wanted(key: int, context: WorkerContext) -> Evaluation | None:
    rows = Evaluation.objects.select_related(
        "candidate__round__campaign__problem",
        "candidate__round__campaign__protocol",
        "candidate__round__campaign__platform",
        "against",
    )
    evaluation = rows.filter(pk=key, state=EvaluationState.QUEUED).first()
    if evaluation is None or evaluation.campaign.platform_id != context.worker.platform_id:
        return None
    may_begin = MAY_BEGIN.get(evaluation.traits.role)
    if may_begin is not None:
        return evaluation if may_begin(evaluation, context) else None
    campaign = evaluation.campaign
    at_work = campaign.state in WORKING and not campaign.pause_requested
    return evaluation if at_work else None


# Role → whether a worker may take it now; all others only while their campaign is at work.
MAY_BEGIN: Mapping[EvaluationRole, Callable[[Evaluation, WorkerContext], bool]] = {
    EvaluationRole.TORCH: lambda e, context: may_be_measured(e) and not gives_way(context),
    EvaluationRole.SERIES: lambda e, context: may_be_measured(e) and not gives_way(context),
    EvaluationRole.REPRODUCTION: lambda e, context: may_reproduce(e, card_of(context.device)),
}


def _claim(evaluation: Evaluation, context: WorkerContext) -> bool:
    """Claim the row, and with it the device itself: of two workers that share one, one at a time.

    Another host or container cannot see the lock on the file; it can see this row.
    """
    worker = context.worker
    with transaction.atomic():
        if worker.card:
            list(Worker.objects.select_for_update().filter(card=worker.card).order_by("pk"))
            _refuse_if_taken(worker, context.device)
        claimed = begin(evaluation, worker.name, Phase.START.value, worker=worker)
        if claimed:
            evaluation.refresh_from_db(fields=["claims"])
            end_wait(evaluation, worker)
    return claimed


def _refuse_if_taken(worker: Worker, device: Device) -> None:
    """Raise DeviceBusy while another worker shows life in a measurement on the same device."""
    living = timezone.now() - timedelta(seconds=settings.KOPT_LEASE_S)
    running = Evaluation.objects.filter(
        state=EvaluationState.RUNNING, worker__card=worker.card, heartbeat_at__gte=living
    )
    for holder in running.values_list("holder", flat=True):
        # What has ended holds nothing, nor what this process has left: it has the file's lock now.
        if not (is_gone(holder) or is_here(holder)):
            name = f"worker {worker_of(holder)}, which measures on it"
            raise DeviceBusy(f"{device.device} ({device.name}) is held by {name}")


def _run(evaluation: Evaluation, context: WorkerContext) -> Report | None:
    """The report; None where the claim was lost, or a round goes before it."""

    def beat() -> None:
        worker_beat(context.worker.name, context.device)
        require_no_round(evaluation, context)

    try:
        with tempdir("evaluation") as folder:
            job = job_of(evaluation, context.device, folder)
            heart = ClaimHeartbeat(evaluation, beat)
            if evaluation.kind == EvaluationKind.SWEEP:
                return sweep(evaluation, job, context, folder, heart)
            return _trial(evaluation, job, context, heart)
    except OSError as error:
        where = error.filename or settings.DATA_DIR
        words = "disk full" if error.errno == errno.ENOSPC else error.strerror
        return not_measured(evaluation, f"{words}: {where}")
    except ClaimLost:
        log.warning("%s: taken over by another worker; result dropped", evaluation)
    except RoundWaits:
        log.info("%s: a round waits for the device, and goes first", evaluation)
        let_round_first(evaluation)
    return None


def _trial(
    evaluation: Evaluation, job: Job, context: WorkerContext, beat: Callable[[str], None]
) -> Report:
    report = context.service.evaluate(job, beat)
    if report.outcome is not Outcome.PASSED:
        return report
    begun = time.monotonic()
    if evaluation.traits.sanitizes:
        report = replace(report, sanitized=sanitize(job, context.service, beat))
    if evaluation.traits.reads_code:
        report = replace(report, machine_code=read_code(job, context.service, beat))
        report = replace(report, profile=count_kernels(job, report, context.service, beat))
    return replace(report, wall_s={**report.wall_s, "explained": time.monotonic() - begun})


def job_of(evaluation: Evaluation, device: Device, folder: Path) -> Job:
    """What is to be measured, on this device, with its files in `folder`."""
    campaign, traits = evaluation.campaign, evaluation.traits
    protocol = protocol_from(campaign.protocol.rules)
    if traits.blocks is not None:
        protocol = replace(protocol, blocks=traits.blocks)
    if not (traits.ends_early and evaluation.candidate.round.traits.ends_early):
        protocol = replace(protocol, looks=())
    rows = campaign.problem.cases.filter(name__in=cases_of(campaign, traits.level))
    source = evaluation.candidate.source
    before = evaluation.against.source if evaluation.against else None
    job = Job(
        job_id=f"evaluation-{evaluation.pk}-{evaluation.attempt}",
        problem=materialise(campaign.problem, folder),
        backend=judging(source, campaign.backend),
        device=device.device,
        target=device.target,
        cases=tuple(Case(name=row.name, params=row.params) for row in rows),
        candidate=source,
        incumbent=before,
        incumbent_backend=judging(before, campaign.backend) if before else "",
        rivals=tuple(rival.source for rival in rivals_of(evaluation)),
        scratch=folder / "scratch",
        protocol=protocol,
        own_kernels=tuple(campaign.own_kernels or ()),
        noise_floor=floor_ahead(evaluation),
        repeats=traits.repeats,
    )
    return torch_job(job, evaluation) if traits.is_torch else job


def _completed(report: Report, facts: Mapping[str, str]) -> Report:
    """Add where each candidate was measured, and see whether its times are some."""
    placed = replace(report, environment={**report.environment, **facts})
    own = _without_host_noise(placed)
    return replace(own, rivals=tuple(_completed(one, facts) for one in report.rivals))


def _facts(evaluation: Evaluation, device: Device, found: DeviceCheck) -> dict[str, str]:
    """The device, so that another one of the same model stays distinguishable, and what measures.

    With them what was seen of its use before, also where no gate applies.
    """
    anyway = "; measured anyway" if found.gate is DeviceState.BUSY else ""
    own = judging(evaluation.candidate.source, evaluation.campaign.backend)
    campaign = evaluation.campaign
    measures = environment_of(device, "torch" if evaluation.traits.is_torch else own)
    return {
        **{name: text for name, text in measures.items() if text},
        PROTOCOL: campaign.protocol.digest,
        CARD: card_of(device),
        GATE: f"{found}{anyway}",
    }


def _without_host_noise(report: Report) -> Report:
    """A pass with a slope that is no time, on a host too busy to be a clock, is the host's failure.

    A candidate whose typical time is not positive is left to the verdict.
    """
    for case in report.cases:
        # The incumbent first: a candidate's own times must not have it measured again and again.
        for timing in (case.incumbent, case.candidate):
            samples = timing.samples_us if timing else ()
            least = min(samples, default=1.0)
            if least > 0 or (timing is case.candidate and statistics.median(samples) <= 0):
                continue
            reason = f"{case.case}: a time of {least:,.1f} µs; the host is too busy to measure on"
            untimed = tuple(replace(c, candidate=None, incumbent=None) for c in report.cases)
            busy = timing is case.incumbent or taken_by_others(report) >= CROWDED
            broken = Outcome.BROKEN_HOST
            return replace(report, outcome=broken, reason=reason, cases=untimed, host_busy=busy)
    return report


def _finish(evaluation: Evaluation, report: Report) -> Campaign | None:
    """Store the report; where the database cannot be reached, `store_saved` does it later."""
    kept = save_result(evaluation.pk, evaluation.holder, evaluation.claims, report)
    try:
        campaign = _stored(evaluation, report)
    except (OperationalError, InterfaceError) as error:
        if full_disk(error):
            # The samples do not fit; the short truth that they do not may.
            where = settings.DATABASES["default"]["NAME"]
            campaign = record_report(evaluation, not_measured(evaluation, f"disk full: {where}"))
        elif kept is None:
            raise
        else:
            log.warning(
                "%s: kept in %s until the database is back: %s", evaluation, kept.path, error
            )
            return None
    if kept is not None:
        kept.forget()
    return campaign


def _stored(evaluation: Evaluation, report: Report) -> Campaign | None:
    """Record the report, over another connection where this one dies over it."""
    try:
        return record_report(evaluation, report)
    except (OperationalError, InterfaceError):
        if not renew_connection():
            raise
        # What was stored after all is not stored again: then the claim is no longer held.
        return record_report(evaluation, report)
