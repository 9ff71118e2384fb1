"""The waits for a device as they stand: since when, why, until when.

A look that finds the device busy is an event, and so is its end. The newest of them is the truth
about a wait; what follows from it (the next look, the pause) survives any restart. Before a worker
has looked at all, a measurement waits in the queue, which its row tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Max, OuterRef, Q, QuerySet
from django.utils import timezone

from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationKind,
    EvaluationState,
    Event,
    Worker,
)
from campaigns.models.transitions import WORKING
from campaigns.rules.noise.device_gate import is_over
from campaigns.rules.wording import minutes

RESUMED = "resumed"
# The next measurement is taken within moments where nothing is in its way, and a look that is due
# made within seconds.
SHOWN_AFTER = timedelta(minutes=1)


class Cause(StrEnum):
    """busy: others use the device. held: another process or worker of ours does."""

    BUSY = "busy"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of the events that begin and end a wait."""

    busy: str
    idle: str

    @property
    def all(self) -> tuple[str, str, str]:
        """Whoever resumes a campaign ends its wait too: the next one counts anew."""
        return self.busy, self.idle, RESUMED


OF_CAMPAIGN = Kinds("device_busy", "device_idle")
# A reproduction goes beside its campaign and has its own wait, which nobody has to bound.
OF_REPRODUCTION = Kinds("reproduction_waits", "reproduction_goes_on")


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait for a device.

    at: of the newest look, which planned the next one for look_at. pause_at: None for what no
    campaign waits for. looks: device that others use → its next look, as each worker looks at its
    own; one that is only held is tried at every ring. why has no full stop.
    """

    since: datetime
    at: datetime
    why: str
    cause: Cause
    device: str
    worker: str
    waited_s: float
    look_at: datetime
    pause_at: datetime | None
    looks: Mapping[str, datetime] = field(default_factory=dict)
    card: str = ""

    @property
    def seen(self) -> frozenset[str]:
        """The devices that it waits for."""
        return frozenset({*self.looks, self.card})

    @property
    def is_over(self) -> bool:
        """Whether it lasted so long that its campaign is paused."""
        return self.pause_at is not None and is_over(self.waited_s)

    @property
    def words(self) -> str:
        """For what, why, and what comes next; without a full stop."""
        return f"waits for {self.device} of {self.worker}: {self.why}; {self._plan}"

    @property
    def _plan(self) -> str:
        if self.is_over:
            return f"it has waited for {minutes(self.waited_s)} min"
        looks = f"looks again at {self.look_at:%H:%M} UTC"
        return f"{looks}, pauses at {self.pause_at:%H:%M} UTC" if self.pause_at else looks

    @property
    def planned_s(self) -> float:
        """How long after the newest look the next one was to come."""
        return (self.look_at - self.at) / timedelta(seconds=1)

    def is_due(self, card: str, now: datetime) -> bool:
        """Whether the worker of this device should look; one that has seen nobody, should."""
        return self.looks.get(card, now) <= now

    @property
    def stored(self) -> dict[str, Any]:
        """As it stands in an event's data."""
        return {
            "since": self.since.isoformat(),
            "cause": self.cause.value,
            "why": self.why,
            "device": self.device,
            "worker": self.worker,
            "card": self.card,
            "waited_s": round(self.waited_s, 1),
            "look_at": self.look_at.isoformat(),
            "pause_at": self.pause_at.isoformat() if self.pause_at else None,
            "looks": {card: at.isoformat() for card, at in self.looks.items()},
        }


@dataclass(frozen=True, slots=True)
class Queue:
    """A measurement that no worker has taken yet. ahead: those of other campaigns before it."""

    since: datetime
    ahead: int
    workers: int

    @property
    def why(self) -> str:
        """Without a full stop, as in a Wait."""
        if not self.workers:
            return "no worker of this platform shows life"
        if self.ahead:
            return f"{self.ahead} measurement{'s' * (self.ahead > 1)} of other campaigns before it"
        return "no worker has come to it yet"


def awaited_by(campaign: Campaign | OuterRef) -> QuerySet[Evaluation]:
    """What a campaign may wait for; a reproduction goes beside it."""
    rows = Evaluation.objects.filter(candidate__round__campaign=campaign)
    return rows.exclude(kind=EvaluationKind.REPRODUCE)


def kinds_of(evaluation: Evaluation) -> Kinds:
    """Reproductions wait apart from their campaigns."""
    beside = evaluation.kind == EvaluationKind.REPRODUCE
    return OF_REPRODUCTION if beside else OF_CAMPAIGN


def wait_of(campaign: Campaign, kinds: Kinds = OF_CAMPAIGN) -> Wait | None:
    """The campaign's wait for a device; None where it waits for none. One query."""
    newest = campaign.events.filter(kind__in=kinds.all).order_by("-pk").first()
    return _wait(newest) if newest and newest.kind == kinds.busy else None


def shown_wait(campaign: Campaign) -> Wait | None:
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


def open_waits() -> list[tuple[Campaign, Wait]]:
    """Every campaign at work that waits for a device. One query, and one for all their events."""
    events = Event.objects.filter(kind__in=OF_CAMPAIGN.all, campaign__state__in=WORKING)
    newest = events.values("campaign").annotate(newest=Max("pk")).values("newest")
    found = Event.objects.filter(pk__in=newest, kind=OF_CAMPAIGN.busy).select_related("campaign")
    return [(event.campaign, _wait(event)) for event in found.order_by("pk")]


def waits_on(card: str, waits: Iterable[tuple[Campaign, Wait]]) -> list[tuple[Campaign, Wait]]:
    """Those of them in which this device was last seen taken."""
    return [(campaign, wait) for campaign, wait in waits if card in wait.seen]


def _wait(event: Event) -> Wait:
    data = event.data
    return Wait(
        since=datetime.fromisoformat(data["since"]),
        at=event.at,
        why=data["why"],
        cause=Cause(data["cause"]),
        device=data["device"],
        worker=data["worker"],
        card=data["card"],
        waited_s=data["waited_s"],
        look_at=datetime.fromisoformat(data["look_at"]),
        pause_at=datetime.fromisoformat(data["pause_at"]) if data["pause_at"] else None,
        looks={card: datetime.fromisoformat(at) for card, at in data["looks"].items()},
    )


def is_put_off(evaluation: Evaluation, card: str) -> bool:
    """Whether this device was seen in use by others and its next look is not due."""
    wait = wait_of(evaluation.campaign, kinds_of(evaluation))
    return wait is not None and not wait.is_due(card, timezone.now())
