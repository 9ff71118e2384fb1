"""Ask free devices and hosts to help with a search, or that they need not come any more."""

from __future__ import annotations

from collections import Counter

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from campaigns.evaluator.contract import Outcome
from campaigns.models import Evaluation, EvaluationKind, EvaluationState, Worker
from campaigns.models.transitions import move
from campaigns.records.evaluations import help_of, is_wanted_elsewhere
from campaigns.steps.recovery.release_vanished import release_vanished
from campaigns.workers.notify import Next, notify

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
        free = 0 if is_wanted_elsewhere(search.campaign) else _free_devices(search)
        for _ in range(free - states[SHARE, EvaluationState.QUEUED]):
            notify(search.campaign, Next(measure=(_ask(search, SHARE),)))
        if builds and not states[BUILD, EvaluationState.QUEUED]:
            notify(search.campaign, Next(build=(_ask(search, BUILD),)))
    running = states[SHARE, EvaluationState.RUNNING] + states[BUILD, EvaluationState.RUNNING]
    return running + builds


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


def _free_devices(search: Evaluation) -> int:
    """Devices of the search's platform whose living workers measure nothing, itself left out."""
    alive = Worker.objects.filter(platform=search.campaign.platform_id).alive()
    running = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__in=alive)
    busy = set(running.values_list("worker__card", flat=True))
    return len(set(alive.values_list("card", flat=True)) - busy)
