"""A process that measures, the accelerator it holds, and the waits of campaigns for it (R8)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from campaigns.models.campaign import Campaign
from campaigns.rules.noise.device_gate import QUIET, is_over
from campaigns.rules.wording import minutes
from knowledge.models import Platform
from knowledge.models.guarded import Guarded, person

# A worker without a heartbeat for longer counts as lost.
VANISHED_AFTER_S = 60.0


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> WorkerQuerySet:
        """Workers with a heartbeat within the last minute."""
        oldest = timezone.now() - timedelta(seconds=VANISHED_AFTER_S)
        return self.filter(heartbeat_at__gte=oldest)


class Worker(models.Model):
    """One row per worker process name; the heartbeat shows whether it is alive.

    card: identifies the device itself, independent of the process; "" in old rows.
    asked_at, asked_by: a request for a new noise passport, until one is taken; asked_by is null for
    a command.
    """

    name = models.CharField(max_length=120, unique=True)
    host = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    device = models.CharField(max_length=40)
    card = models.CharField(max_length=200, blank=True)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="workers")
    versions = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True, blank=True)
    asked_by = person()

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def silent_s(self) -> float:
        """Seconds since the last heartbeat."""
        return (timezone.now() - self.heartbeat_at).total_seconds()

    @property
    def is_alive(self) -> bool:
        return self.silent_s <= VANISHED_AFTER_S


class Cause(models.TextChoices):
    """busy: others use the device. held: another process or worker of ours does."""

    BUSY = "busy"
    HELD = "held"


class DeviceWait(Guarded):
    """It stands until a measurement begins or a person resumes the campaign, and is then sealed.

    is_reproduction: a reproduction, or torch beside the incumbent, waits apart from its campaign
    and pauses nothing, so pause_at is null. device, worker, card, cause, why: of the newest look,
    which planned the next for look_at. why has no full stop. looks: device that others use → its
    next look in ISO form, as each worker looks at its own; one that is only held is tried at every
    ring.
    """

    SEALED = models.Q(ended_at__isnull=False)
    HIDDEN_WITH = ("campaign",)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="device_waits")
    is_reproduction = models.BooleanField(default=False)
    since = models.DateTimeField()
    looked_at = models.DateTimeField()
    cause = models.CharField(max_length=20, choices=Cause)
    why = models.TextField()
    device = models.CharField(max_length=40)
    worker = models.CharField(max_length=120)
    card = models.CharField(max_length=200, blank=True)
    waited_s = models.FloatField(default=0.0)
    look_at = models.DateTimeField()
    pause_at = models.DateTimeField(null=True, blank=True)
    looks = models.JSONField(default=dict)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["campaign", "is_reproduction"],
                condition=models.Q(ended_at__isnull=True),
                name="one_open_device_wait",
            ),
        )
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"wait {self.pk} of {self.campaign}"

    @property
    def event_kinds(self) -> tuple[str, str]:
        """The kinds of the events that tell of its begin and of its end."""
        if self.is_reproduction:
            return "reproduction_waits", "reproduction_goes_on"
        return "device_busy", "device_idle"

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
        return f"waits for {self.place}: {self.why}; {self._plan}"

    @property
    def is_for_host(self) -> bool:
        """Whether the device is free, and the host of the worker is too busy to measure on."""
        return self.device == QUIET

    @property
    def place(self) -> str:
        """The device and its worker, or a quiet host."""
        return QUIET if self.is_for_host else f"{self.device} of {self.worker}"

    @property
    def _plan(self) -> str:
        if self.is_over:
            return f"it has waited for {minutes(self.waited_s)} min"
        looks = f"looks again at {self.look_at:%H:%M} UTC"
        return f"{looks}, pauses at {self.pause_at:%H:%M} UTC" if self.pause_at else looks

    def is_due(self, card: str, now: datetime) -> bool:
        """Whether the worker of this device should look; one that has seen nobody, should."""
        return card not in self.looks or datetime.fromisoformat(self.looks[card]) <= now

    @property
    def planned_s(self) -> float:
        """How long after the newest look the next one was to come."""
        return (self.look_at - self.looked_at) / timedelta(seconds=1)

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data for the API and for `--json`."""
        return {
            "since": self.since.isoformat(),
            "cause": self.cause,
            "why": self.why,
            "device": self.device,
            "worker": self.worker,
            "card": self.card,
            "waited_s": round(self.waited_s, 1),
            "look_at": self.look_at.isoformat(),
            "pause_at": self.pause_at.isoformat() if self.pause_at else None,
            "looks": self.looks,
        }
