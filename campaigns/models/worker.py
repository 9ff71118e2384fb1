"""A process that measures, and the accelerator it holds."""

from __future__ import annotations

from django.db import models

from knowledge.models import Platform


class Worker(models.Model):
    """One row per worker process name; the heartbeat says whether it lives.

    noise: this worker's noise passport per backend: {"cpp": {"sigma": …, "pairs": …, "at": …}}.
    """

    name = models.CharField(max_length=120, unique=True)
    host = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    device = models.CharField(max_length=40)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="workers")
    versions = models.JSONField(default=dict)
    noise = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
