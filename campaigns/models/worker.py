"""A process that measures, and the accelerator it holds."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

from knowledge.models import Platform

# A worker that is silent for longer has vanished.
VANISHED_AFTER_S = 60.0


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> WorkerQuerySet:
        """Those that have shown life within a minute."""
        oldest = timezone.now() - timedelta(seconds=VANISHED_AFTER_S)
        return self.filter(heartbeat_at__gte=oldest)


class Worker(models.Model):
    """One row per worker process name; the heartbeat says whether it lives.

    card: names the device itself, whichever process holds it; "" in a row of before it was kept.
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

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def silent_s(self) -> float:
        """Seconds since the last sign of life."""
        return (timezone.now() - self.heartbeat_at).total_seconds()

    @property
    def is_alive(self) -> bool:
        return self.silent_s <= VANISHED_AFTER_S
