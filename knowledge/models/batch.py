"""Batch: one import of any kind, planned, confirmed and undone as one."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from knowledge.models.guarded import COMMAND, person


class BatchKind(models.TextChoices):
    """What an import brings in."""

    WIKI = "wiki", "documents and values"
    EXPERIENCE = "experience", "experience and lessons"


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


class BatchQuerySet(models.QuerySet["Batch"]):
    def numbered(self, kind: str, number: int) -> BatchQuerySet:
        """The import of this kind with this number, or none."""
        if abs(number) >= 2**63:
            return self.none()
        now = models.Q(former=None, pk=number)
        return self.filter(models.Q(former=number) | now, kind=kind)


class Batch(models.Model):
    """The files of one import and what became of them.

    former: its number from when each kind had a table of its own; null for every later import.
    format: the name of the reader, where a kind has several. files: path to text, emptied once the
    import is confirmed or dropped. answers: key of a question of the plan → what a person said.
    plan: what it would do, as its author saw it. undone_by: null for a command. progress: of what
    is worked on, how far that is; heartbeat_at: when it last was, and of the process that works on
    it the claim.
    """

    kind = models.CharField(max_length=16, choices=BatchKind.choices, default=BatchKind.WIKI)
    former = models.PositiveBigIntegerField(null=True, blank=True)
    origin = models.CharField(max_length=120)
    format = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=16, choices=BatchState.choices, default=BatchState.PLANNED)
    files = models.JSONField(default=dict, blank=True)
    answers = models.JSONField(default=dict, blank=True)
    plan = models.JSONField(default=dict, blank=True)
    why = models.CharField(max_length=300, blank=True)
    author = person()
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    progress = models.JSONField(default=dict, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    undone_by = person()

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"import {self.number} of {self.origin}"

    def get_absolute_url(self) -> str:
        route = "knowledge:batch" if self.kind == BatchKind.WIKI else f"{self.kind}:import"
        return reverse(route, args=[self.number])

    @property
    def number(self) -> int:
        """What pages and commands call it; unique within its kind."""
        return self.former or self.pk

    @property
    def undone_by_name(self) -> str:
        """Who took it back."""
        return self.undone_by.get_username() if self.undone_by else COMMAND
