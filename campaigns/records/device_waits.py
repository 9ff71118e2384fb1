"""The waits for a device as they stand. Before any worker has looked, a measurement is queued."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.db.models import OuterRef, Q, QuerySet
from django.utils import timezone

from campaigns.models import (
    Campaign,
    CampaignState,
    DeviceWait,
    Evaluation,
    EvaluationState,
    Worker,
)
from campaigns.models.kinds import APART
from campaigns.models.transitions import WORKING
from knowledge.models import Platform

# The next measurement is taken within moments where nothing is in its way, and a look that is due
# made within seconds.
SHOWN_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Queue:
    """A measurement that no worker has taken yet. ahead: those of other campaigns before it."""

    since: datetime
    ahead: int
    workers: int

    @property
    def why(self) -> str:
        """Without a full stop, as in a DeviceWait."""
        if not self.workers:
            return "no worker of this platform shows life"
        if self.ahead:
            return f"{self.ahead} measurement{'s' * (self.ahead > 1)} of other campaigns before it"
        return "no worker has come to it yet"


HOW = (
    "`.venv/bin/python manage.py up` on a host that has one, with the database and queue of this "
    "installation, starts a worker."
)


class OnPlatform(Protocol):
    """A campaign or a repository."""

    @property
    def platform(self) -> Platform: ...

    @property
    def is_finished(self) -> bool: ...


def no_worker_of(row: OnPlatform, what: str = "campaign") -> str:
    """Say that no worker of its platform is alive; "" where one is, or where the row is over."""
    alive = Worker.objects.filter(platform=row.platform).alive()
    if row.is_finished or alive.exists():
        return ""
    return no_worker_words(row.platform, what)


def no_worker_words(platform: Platform, what: str = "campaign") -> str:
    """The same in words: why nothing begins."""
    return f"No worker of {platform.name} is alive: this {what} waits."


def no_worker_told(row: OnPlatform, what: str = "campaign") -> str:
    """The same where no link leads to how a worker is started."""
    words = no_worker_of(row, what)
    return words and f"{words} {HOW}"


def awaited_by(campaign: Campaign | OuterRef) -> QuerySet[Evaluation]:
    """What a campaign may wait for; what goes on apart from it is left out."""
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign)
    return rows.exclude(kind__in=APART)


def is_held(campaign: Campaign) -> bool:
    """Whether a worker is at something that the campaign waits for."""
    return awaited_by(campaign).filter(state=EvaluationState.RUNNING).exists()


def is_served(campaign: Campaign) -> bool:
    """Whether a worker will come to what waits in the queue: one is alive, and its device free."""
    alive = Worker.objects.filter(platform=campaign.platform_id).alive()
    return alive.exists() and wait_of(campaign) is None


def wait_of(campaign: Campaign) -> DeviceWait | None:
    """The campaign's wait for a device; None where it waits for none. One query."""
    return campaign.device_waits.filter(ended_at=None, is_reproduction=False).first()


def wait_for(evaluation: Evaluation) -> DeviceWait | None:
    """The wait that this evaluation shares: its campaign's, or that of what is apart from it."""
    waits = evaluation.campaign.device_waits.filter(ended_at=None)
    return waits.filter(is_reproduction=evaluation.traits.is_apart).first()


def shown_wait(campaign: Campaign) -> DeviceWait | None:
    """The wait that its page tells of: one that lasts, or the one that paused the campaign."""
    wait = None if campaign.is_finished else wait_of(campaign)
    if wait is None or campaign.state in WORKING:
        return wait
    return wait if wait.is_over and campaign.state == CampaignState.PAUSED else None


def queue_for(campaign: Campaign, now: datetime) -> Queue | None:
    """How long a measurement has been in the queue with nobody at it; None under a minute."""
    awaited = awaited_by(campaign)
    first = awaited.filter(state=EvaluationState.QUEUED).first()
    newest = campaign.events.last()
    if first is None or newest is None or now - newest.at < SHOWN_AFTER:
        return None
    others = Evaluation.objects.filter(
        candidate__round__campaign__platform=campaign.platform_id,
        candidate__round__campaign__state__in=WORKING,
    ).exclude(candidate__round__campaign=campaign)
    before = Q(state=EvaluationState.RUNNING) | Q(state=EvaluationState.QUEUED, pk__lt=first.pk)
    workers = Worker.objects.filter(platform=campaign.platform_id).alive()
    return Queue(newest.at, others.filter(before).count(), workers.count())


def open_waits() -> QuerySet[DeviceWait]:
    """Waits of every campaign at work, each with its campaign. One query."""
    rows = DeviceWait.objects.filter(ended_at=None, is_reproduction=False)
    return rows.filter(campaign__state__in=WORKING).select_related("campaign")


def waits_on(card: str, waits: Iterable[DeviceWait]) -> list[DeviceWait]:
    """Keep the waits in which this device was last seen taken."""
    return [wait for wait in waits if card in wait.seen]


def is_put_off(evaluation: Evaluation, card: str) -> bool:
    """Whether this device was seen in use by others and its next look is not due."""
    wait = wait_for(evaluation)
    return wait is not None and not wait.is_due(card, timezone.now())
