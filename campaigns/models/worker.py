"""A process that measures, and the accelerator it holds."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

from knowledge.models import Platform

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
        """Seconds since the last heartbeat."""
        return (timezone.now() - self.heartbeat_at).total_seconds()

    @property
    def is_alive(self) -> bool:
        return self.silent_s <= VANISHED_AFTER_S
