"""Search the space of a round on this worker's device. Every point becomes a row as it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from campaigns.devices.sweep.loop import SweepBroken
from campaigns.devices.sweep.search_work import SearchWork, TriedPoint
from campaigns.evaluator.contract import Job, Outcome, Phase, Protocol, Report
from campaigns.models import Evaluation, Sweep, SweepPoint
from campaigns.records.target.device_limits import campaign_space, device_limits
from campaigns.steps.worker import WorkerContext
from campaigns.strategies.base import StopRule
from campaigns.strategies.registry import strategy_named

# What a screen needs to rank, and no more; by kind of device.
BURST_MS = {"cpu": 10.0, "gpu": 2.0}
ARENA_MIB = {"cpu": 1024, "gpu": 8192}
SLOTS = 1024
# A compiler that takes much longer than for the source as it is makes too much code of a point.
BUILD_S, LOAD_S, CALL_S, PREPARE_S = 20.0, 20.0, 10.0, 20.0


def sweep(
    evaluation: Evaluation,
    job: Job,
    context: WorkerContext,
    folder: Path,
    beat: Callable[[str], None],
) -> Report:
    """Search until the plan's end. A sweep that was broken off goes on with the points it has.

    What `beat` raises is passed on.
    """
    plan: Sweep = evaluation.candidate.round.sweep
    rows = _Rows(plan, evaluation)
    search = _work(plan, evaluation, rows)

    def alive() -> None:
        # Whoever has lost the claim learns it here.
        beat(Phase.BURST)
        rows.write()

    screening = screening_job(job, context.device.kind, plan.most_s)
    try:
        context.sweep(context.service, screening, folder, search, alive)
        ended = search.ended or "Every point was tried."
        report = Report(job.job_id, Outcome.PASSED, Phase.DONE, ended)
    except SweepBroken as broken:
        why, busy = str(broken), broken.host_busy
        report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, why, host_busy=busy)
    finally:
        rows.write()
    return report


def _work(plan: Sweep, evaluation: Evaluation, rows: _Rows) -> SearchWork:
    campaign, base = evaluation.campaign, evaluation.candidate.source
    space = campaign_space(campaign, base)
    strategy = strategy_named(plan.strategy)(space, plan.seed, plan.seeds)
    stop = StopRule(most_trials=plan.most_points, most_s=plan.most_s)
    work = SearchWork(base, space, strategy, stop, rows.add)
    work.most_shared_bytes = device_limits(campaign.platform).shared_bytes_per_block
    known = ("number", "params", "outcome", "reason", "times_us", "time_us", "ended_early")
    for row in plan.points.values_list(*known):
        work.known(TriedPoint(*row))
    return work


def screening_job(job: Job, kind: str, most_s: float) -> Job:
    """The job of the streams of a search on this kind of device, for `most_s` seconds."""
    protocol = screening_protocol(job.protocol, kind, most_s)
    return replace(job, incumbent=None, protocol=protocol)


def screening_protocol(protocol: Protocol, kind: str, most_s: float) -> Protocol:
    """A campaign's rules as a screen needs them on this kind of device, for `most_s` seconds."""
    limits = replace(
        protocol.limits,
        build_s=BUILD_S,
        load_s=LOAD_S,
        call_s=CALL_S,
        prepare_s=PREPARE_S,
        total_s=2 * most_s + protocol.limits.total_s,
    )
    return replace(
        protocol, burst_ms=BURST_MS[kind], max_slots=SLOTS, arena_mib=ARENA_MIB[kind], limits=limits
    )


class _Rows:
    """Points on their way into the database, in few transactions."""

    def __init__(self, plan: Sweep, evaluation: Evaluation) -> None:
        self._plan, self._evaluation = plan, evaluation
        self._new: list[SweepPoint] = []

    def add(self, point: TriedPoint) -> None:
        facts = asdict(point.facts) if point.facts else {}
        self._new.append(
            SweepPoint(
                sweep=self._plan,
                evaluation=self._evaluation,
                number=point.number,
                params=dict(point.point),
                outcome=point.outcome,
                reason=point.reason,
                time_us=point.time_us,
                times_us=dict(point.times_us),
                ended_early=point.ended_early,
                facts={name: value for name, value in facts.items() if value is not None},
                build_s=point.build_s,
                screen_s=point.screen_s,
            )
        )

    def write(self) -> None:
        rows, self._new = self._new, []
        SweepPoint.objects.bulk_create(rows)
