"""Find work that was lost or waits, and return which campaigns to notify again."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from campaigns.models import Campaign, Evaluation, EvaluationState, Round, RoundState
from campaigns.models.campaign import measured_here
from campaigns.models.event import record
from campaigns.models.kinds import ATTEMPTS
from campaigns.models.transitions import WORKING
from campaigns.records.device_waits import awaited_by, wait_of
from campaigns.records.time_spent import clock_of, doing_words, is_waiting, used_words
from campaigns.rules.stop.phases import MEASURING, Overrun, is_idle, overrun
from campaigns.rules.verdict.expectation import SILENT, WRONG
from campaigns.rules.wording import minutes
from campaigns.steps.measuring.claims import idle_workers
from campaigns.steps.measuring.results import release_vanished
from campaigns.steps.notify import AGAIN, Next
from campaigns.steps.rounds.learn import try_to_learn
from knowledge.models import Experience

IDLE = "phase_idle"


def reconcile() -> list[tuple[Campaign, Next]]:
    """Run at worker start and a few times a minute; running it more often does no harm."""
    release_vanished(Evaluation.objects.all())
    catch_up()
    working = Campaign.objects.filter(state__in=WORKING).select_related("platform")
    for campaign in working:
        tell_idle(campaign)
    wanted = [(campaign, _next(campaign)) for campaign in working]
    return [(campaign, following) for campaign, following in wanted if following]


def _next(campaign: Campaign) -> Next | None:
    waiting = awaited_by(campaign).exclude(state=EvaluationState.DONE)
    states = dict(waiting.values_list("pk", "state"))
    if EvaluationState.RUNNING in states.values():
        return None
    if not states or campaign.pause_requested or campaign.stop_requested:
        return AGAIN
    return Next(measure=tuple(sorted(states))) if _has_idle_worker(campaign) else None


def _has_idle_worker(campaign: Campaign) -> bool:
    """A busy worker returns to the queue by itself; an absent one reconciles when it starts.

    When other programs use its device, the notification waits for the next check.
    """
    idle = idle_workers().filter(platform=campaign.platform)
    cards = list(idle.values_list("card", flat=True))
    wait = wait_of(campaign)
    return bool(cards) if wait is None else any(wait.is_due(c, timezone.now()) for c in cards)


def tell_idle(campaign: Campaign) -> bool:
    """Record once that a phase shows no sign of life; True when recorded now.

    A measurement is left out: its heartbeat, its place in the queue or its wait shows life.
    """
    if campaign.state in MEASURING and is_waiting(campaign):
        return False
    clock = clock_of(campaign, timezone.now())
    if clock is None or not is_idle(clock) or overrun(clock) is Overrun.DECLINE:
        return False
    last = campaign.events.last()
    if last is not None and last.kind == IDLE:
        return False
    words = f"no sign of life for {minutes(clock.silent_s)} min while {doing_words(clock)}"
    if overrun(clock) is Overrun.TELL:
        words += f"; {used_words(clock)}"
    words += "; its step is requested again"
    record(campaign, IDLE, words, state=clock.state, silent_s=round(clock.silent_s, 1))
    return True


# Of one check of a worker, which runs a few times a minute and has other work to do.
AT_ONCE = 20


def catch_up(most: int | None = AT_ONCE) -> int:
    """Learn at most so many rounds, the oldest first; how many are learned. None: all of them."""
    return sum(try_to_learn(round_) for round_ in untaught()[:most])


def untaught() -> QuerySet[Round]:
    """Closed rounds that teach something and have no entry; none of a sample."""
    known = Experience.objects.filter(campaign=OuterRef("campaign_id"), round=OuterRef("number"))
    teaches = Q(verdict__reason__in=WRONG) | Q(verdict__gain__isnull=False)
    closed = Round.objects.filter(teaches, ~Exists(known), state=RoundState.CLOSED)
    attempts = closed.filter(measured_here("campaign__"), kind__in=ATTEMPTS).exclude(
        verdict__reason__in=SILENT
    )
    return attempts.select_related("campaign__problem", "campaign__platform", "verdict").order_by(
        "closed_at"
    )
