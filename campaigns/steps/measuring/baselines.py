"""torch measured beside a campaign's incumbent, on a device that no search needs meanwhile.

max-autotune alone may take minutes, for which no campaign waits. So nothing is begun between the
steps of a search, and a round that comes later ends it; what is ended waits again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from campaigns.evaluator.contract import Job
from campaigns.models import Campaign, Evaluation, EvaluationState, Worker
from campaigns.models.kinds import TORCH
from campaigns.models.transitions import move
from campaigns.problems.torch_source import NoSource
from campaigns.records.baselines import may_be_measured, source_of, wants_baselines
from campaigns.records.evaluations import has_device_to_spare, rounds_waiting
from campaigns.steps.measuring.claims import give_back, idle_workers
from campaigns.steps.notify import Next
from campaigns.steps.worker import WorkerContext


def request_baselines(campaign: Campaign) -> tuple[int, ...]:
    """Queue what has not been measured beside this incumbent, in the caller's transaction.

    Returns the keys that a worker may claim. What the problem cannot have is done at once, with
    the reason, and so is what still waits to be measured beside an earlier incumbent. No campaign
    waits for any of it.
    """
    if campaign.incumbent is None or not wants_baselines(campaign):
        return ()
    late = Evaluation.objects.filter(candidate__round__campaign=campaign, kind__in=TORCH)
    for evaluation in late.filter(state=EvaluationState.QUEUED).exclude(
        candidate=campaign.incumbent
    ):
        _end(evaluation, "the best has changed before a device was free")
    queued = []
    for kind in TORCH:
        evaluation, is_new = Evaluation.objects.get_or_create(
            candidate=campaign.incumbent, kind=kind, attempt=1
        )
        if is_new:
            try:
                source_of(evaluation)
                queued.append(evaluation.pk)
            except NoSource as error:
                _end(evaluation, str(error))
    return tuple(queued)


def _end(evaluation: Evaluation, why: str) -> None:
    move(evaluation, EvaluationState.DONE, reason=why, finished_at=timezone.now())


def remind_of_baselines() -> list[tuple[Campaign, Next]]:
    """The oldest that waits, of each platform with an idle worker; doing it again does no harm."""
    idle = set(idle_workers().values_list("platform", flat=True))
    platforms = {platform for platform in idle if has_device_to_spare(platform)}
    rows = Evaluation.objects.filter(kind__in=TORCH, state=EvaluationState.QUEUED)
    found: dict[int, Evaluation] = {}
    for evaluation in rows.select_related("candidate__round__campaign__platform").order_by("pk"):
        if may_be_measured(evaluation) and evaluation.campaign.platform_id in platforms:
            found.setdefault(evaluation.campaign.platform_id, evaluation)
    return [(one.campaign, Next(measure=(one.pk,))) for one in found.values()]


# An idle worker takes it soon, so this one is not interrupted for it.
WAITS_S = 10.0


class RoundWaits(Exception):
    """A round needs the device now; torch and the series can wait."""


def gives_way(context: WorkerContext) -> bool:
    """Whether no device is left beside those that campaigns at work would take."""
    platform = context.worker.platform_id
    return _serves_others(context) and not has_device_to_spare(platform)


def _serves_others(context: WorkerContext) -> bool:
    """Whether some worker takes the rounds of other campaigns; a command runs its own alone."""
    others = Worker.objects.alive().exclude(pk=context.worker.pk)
    return context.serves_all or others.filter(platform=context.worker.platform_id).exists()


def require_no_round(evaluation: Evaluation, context: WorkerContext) -> None:
    """Called while it is measured. Raises RoundWaits, at once where no other worker is idle."""
    if not (evaluation.traits.gives_way and _serves_others(context)):
        return
    platform = context.worker.platform_id
    patience_s = WAITS_S if idle_workers().filter(platform=platform).exists() else 0.0
    since = timezone.now() - timedelta(seconds=patience_s)
    if rounds_waiting(platform).filter(created_at__lte=since).exists():
        raise RoundWaits


def let_round_first(evaluation: Evaluation) -> None:
    """Queue it again. No worker was lost, so the claim does not count."""
    give_back(evaluation, claims=F("claims") - 1)


# torch.compile builds at the first call of each shape, and max-autotune tries many kernels.
LOAD_S, CALL_S, TOTAL_S = 240.0, 60.0, 600.0


def torch_job(job: Job, evaluation: Evaluation) -> Job:
    """The same job with torch as its candidate, and what was its candidate as the incumbent.

    Which arm is which decides whose failure it is: here torch's, and never the campaign's. The
    rules of measuring are the campaign's own; only the limits leave time to compile.
    """
    limits = replace(job.protocol.limits, load_s=LOAD_S, call_s=CALL_S, total_s=TOTAL_S)
    return replace(
        job,
        backend="torch",
        candidate=source_of(evaluation),
        incumbent=job.candidate,
        incumbent_backend=job.backend,
        protocol=replace(job.protocol, limits=limits),
    )
