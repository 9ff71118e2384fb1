"""Ask the free devices of a platform to help with a search, or that they need not come any more."""

from __future__ import annotations

from collections import Counter

from django.db.models import Max
from django.utils import timezone

from campaigns.evaluator.contract import Outcome
from campaigns.models import Evaluation, EvaluationKind, EvaluationState, Worker
from campaigns.models.transitions import move
from campaigns.records.sharing import is_wanted_elsewhere, shares_of
from campaigns.steps.recovery.release_vanished import release_vanished
from campaigns.workers.notify import Next, notify

# Help that broke so often in one search is asked for no more: the host is to blame, or the search.
MOST_BROKEN = 6


def ask_for_help(search: Evaluation) -> int:
    """Queue a share of the search for each free device; how many help at present.

    Other measurements come first. Safe to call at any time, any number of times.
    """
    shares = shares_of(search)
    release_vanished(shares)
    states = Counter(shares.values_list("state", flat=True))
    if not is_wanted_elsewhere(search.campaign):
        broken = shares.filter(outcome=Outcome.BROKEN_HOST).count()
        wanted = _free_devices(search) if broken < MOST_BROKEN else 0
        for _ in range(wanted - states[EvaluationState.QUEUED]):
            _ask(search)
    return states[EvaluationState.RUNNING]


def end_help(search: Evaluation) -> None:
    """End the shares that nobody has begun."""
    for share in shares_of(search).filter(state=EvaluationState.QUEUED):
        reason = "The search ended before any device was free."
        move(share, EvaluationState.DONE, reason=reason, finished_at=timezone.now())


def _ask(search: Evaluation) -> None:
    last = shares_of(search).aggregate(last=Max("attempt"))["last"] or 0
    share = Evaluation.objects.create(
        candidate=search.candidate, kind=EvaluationKind.SHARE, attempt=last + 1
    )
    notify(search.campaign, Next(measure=(share.pk,)))


def _free_devices(search: Evaluation) -> int:
    """Devices of the search's platform whose living workers measure nothing, itself left out."""
    alive = Worker.objects.filter(platform=search.campaign.platform_id).alive()
    running = Evaluation.objects.filter(state=EvaluationState.RUNNING, worker__in=alive)
    busy = set(running.values_list("worker__card", flat=True))
    return len(set(alive.values_list("card", flat=True)) - busy)
