"""Batch: one import of a folder, planned, confirmed and undone as one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse


class BatchState(models.TextChoices):
    """Where an import stands. Files are kept only until it is decided."""

    PLANNING = "planning", "being planned"
    PLANNED = "planned", "planned"
    TAKING = "taking", "being imported"
    CONFIRMED = "confirmed", "confirmed"
    DROPPED = "dropped", "dropped"
    UNDONE = "undone", "undone"


# A process works on it, part by part.
WORKED_ON = (BatchState.PLANNING, BatchState.TAKING)


class Batch(models.Model):
    """The files of one import and what became of them.

    files: path to text, emptied once the import is confirmed or dropped, as revisions hold the
    texts from then on. plan: what it would do, as its author saw it. undone_by: null for a command.
    progress: of what is worked on, how far that is; heartbeat_at: when it last was, and of the
    process that works on it the claim.
    """

    origin = models.CharField(max_length=80)
    state = models.CharField(max_length=16, choices=BatchState.choices, default=BatchState.PLANNED)
    files = models.JSONField(default=dict, blank=True)
    plan = models.JSONField(default=dict, blank=True)
    why = models.CharField(max_length=300, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    progress = models.JSONField(default=dict, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.origin}"

    def get_absolute_url(self) -> str:
        return reverse("knowledge:batch", args=[self.pk])
