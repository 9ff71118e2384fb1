"""Search the space of a round, on this worker's device and on what others are free.

Every point becomes a row as it comes, whichever device has tried it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from campaigns.devices.sweep.loop import SweepBroken, build_cache_of
from campaigns.devices.sweep.search_work import SearchWork, TriedPoint
from campaigns.devices.sweep.shared_work import HelperWork, SharedWork, SweepOrders
from campaigns.evaluator.contract import Job, Outcome, Phase, Protocol, Report
from campaigns.models import Evaluation, EvaluationKind, EvaluationState, Sweep, SweepPoint, Worker
from campaigns.models.transitions import move
from campaigns.records.evaluations import help_of, is_searched, is_wanted_elsewhere
from campaigns.records.target.device_limits import campaign_space, device_limits
from campaigns.steps.measuring.results import release_vanished
from campaigns.steps.notify import Next, notify
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
    rows, orders = _Rows(plan, evaluation), SweepOrders(plan)
    search = _work(plan, evaluation, rows)

    def alive() -> None:
        # Whoever has lost the claim learns it here, and hands out nothing more.
        beat(Phase.BURST)
        work.turn(ask_for_help(evaluation, builds=cache is not None))
        rows.write()

    screening = screening_job(job, context.device.kind, plan.most_s)
    # What is compiled for this very CPU is of no use to another.
    anywhere = settings.KOPT_BUILDS == "SHARED" and job.target != "native"
    cache = build_cache_of(screening) if anywhere else None
    work = SharedWork(search, orders, alive, cache)
    rows.tried_in = work.tried_in
    work.resume()
    rows.write()
    try:
        context.sweep(context.service, screening, folder, work, alive)
        ended = search.ended or "Every point was tried."
        report = Report(job.job_id, Outcome.PASSED, Phase.DONE, ended)
    except SweepBroken as broken:
        why, busy = str(broken), broken.host_busy
        report = Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, why, host_busy=busy)
    finally:
        rows.write()
    orders.clear()
    end_help(evaluation)
    return report


def _work(plan: Sweep, evaluation: Evaluation, rows: _Rows) -> SearchWork:
    campaign, base = evaluation.campaign, evaluation.candidate.source
    space = campaign_space(campaign, base)
    strategy = strategy_named(plan.strategy)(space, plan.seed, plan.seeds)
    stop = StopRule(most_trials=plan.most_points, most_s=plan.most_s)
    if len(space.points_at_most(plan.most_points + 1)) <= plan.most_points:
        stop = replace(stop, least_gain=0.0)  # it is screened whole, whatever is expected
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
    """Points on their way into the database, in few transactions.

    tried_in: number → key of the evaluation, for what another device has tried.
    """

    def __init__(self, plan: Sweep, evaluation: Evaluation) -> None:
        self.tried_in: dict[int, int] = {}
        self._plan, self._evaluation = plan, evaluation
        self._new: list[SweepPoint] = []

    def add(self, point: TriedPoint) -> None:
        facts = asdict(point.facts) if point.facts else {}
        self._new.append(
            SweepPoint(
                sweep=self._plan,
                evaluation_id=self.tried_in.pop(point.number, self._evaluation.pk),
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


# Help that broke so often in one search is asked for no more: the host is to blame, or the search.
MOST_BROKEN = 6
SHARE, BUILD = EvaluationKind.SHARE, EvaluationKind.BUILD


def ask_for_help(search: Evaluation, *, builds: bool = False) -> int:
    """Queue a share of the search for each free device; how many helpers to hand out for.

    builds: whether to keep one more queued, for the next host that can build; it counts. Other
    campaigns' measurements come first. Safe to call at any time, any number of times.
    """
    release_vanished(help_of(search))
    states = Counter(help_of(search).values_list("kind", "state"))
    if help_of(search).filter(outcome=Outcome.BROKEN_HOST).count() < MOST_BROKEN:
        # Devices of the search's platform whose living workers measure nothing, itself left out.
        alive = Worker.objects.filter(platform=search.campaign.platform_id).alive()
        running = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__in=alive)
        free = set(alive.values_list("card", flat=True))
        free -= set(running.values_list("worker__card", flat=True))
        if is_wanted_elsewhere(search.campaign):
            free = set()
        for _ in range(len(free) - states[SHARE, EvaluationState.QUEUED]):
            notify(search.campaign, Next(measure=(_ask(search, SHARE),)))
        if builds and not states[BUILD, EvaluationState.QUEUED]:
            notify(search.campaign, Next(build=(_ask(search, BUILD),)))
    return sum(states[kind, EvaluationState.RUNNING] for kind in (SHARE, BUILD)) + builds


def end_help(search: Evaluation) -> None:
    """End what nobody has begun."""
    for one in help_of(search).filter(state=EvaluationState.QUEUED):
        reason = "The search ended before anybody was free."
        move(one, EvaluationState.DONE, reason=reason, finished_at=timezone.now())


def _ask(search: Evaluation, kind: EvaluationKind) -> int:
    with transaction.atomic():
        # Whoever has taken the search over may ask at this moment, too.
        list(Evaluation.objects.select_for_update().filter(pk=search.pk))
        last = help_of(search, kind).aggregate(last=Max("attempt"))["last"] or 0
        made = Evaluation.objects.create(candidate=search.candidate, kind=kind, attempt=last + 1)
    return made.pk


def help_search(
    share: Evaluation, job: Job, context: WorkerContext, folder: Path, beat: Callable[[str], None]
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

    work = HelperWork(SweepOrders(plan), share, most_shared_bytes, goes_on, alive)
    screening = screening_job(job, context.device.kind, plan.most_s)
    try:
        context.sweep(context.service, screening, folder, work, alive)
    except SweepBroken as broken:
        return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, str(broken))
    return Report(job.job_id, Outcome.PASSED, Phase.DONE, f"{work.done} variants tried.")
