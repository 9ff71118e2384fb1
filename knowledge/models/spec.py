"""Spec and Citation: one value of one metric of one platform, and the lines it rests on."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from knowledge.models.document import Revision
from knowledge.models.guarded import ALWAYS, Guarded
from knowledge.models.platform import Platform
from knowledge.specs.citation import CitationLine
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE, Rank


class SpecState(models.TextChoices):
    """Where a value stands in review. Only approved values are ever looked up."""

    PROPOSED = "proposed", "proposed"
    APPROVED = "approved", "approved"
    RETURNED = "returned", "returned"
    RETIRED = "retired", "retired"


class SpecQuerySet(models.QuerySet["Spec"]):
    """The questions that pages and lookups ask."""

    def approved(self) -> SpecQuerySet:
        return self.filter(state=SpecState.APPROVED)

    def preferred(self) -> SpecQuerySet:
        return self.approved().filter(rank=Rank.PREFERRED)

    def for_sheet(self) -> SpecQuerySet:
        """With everything that a page needs to print a value and its citation."""
        newest = models.Prefetch(
            "citations",
            Citation.objects.select_related("revision__document")
            .defer("revision__text")
            .order_by("-pk"),
        )
        return self.select_related("platform").prefetch_related(newest)


class Spec(models.Model):
    """One value with its unit, qualifiers and source.

    `value` is in the canonical `unit`, and None for names, UNKNOWN and NONE; `shown` is what the
    line says ("4.8 TB/s"). Of an UNKNOWN the note says how to obtain it. A value never changes:
    another one is a new spec that `replaces` it. proposed_by: null for a command.
    """

    platform = models.ForeignKey(Platform, models.PROTECT, related_name="specs")
    metric = models.CharField(max_length=80)
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=16)
    shown = models.CharField(max_length=80)
    qualifiers = models.JSONField(default=dict, blank=True)
    evidence = models.CharField(max_length=16)
    source_kind = models.CharField(max_length=16)
    source = models.CharField(max_length=300)
    source_url = models.URLField(max_length=500, blank=True)
    note = models.TextField(blank=True)
    rank = models.CharField(max_length=16)
    state = models.CharField(max_length=16, choices=SpecState.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    replaces = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="replacements"
    )

    objects = SpecQuerySet.as_manager()

    class Meta:
        ordering = ["metric", "-rank", "pk"]
        permissions = [
            ("propose_spec", "Can propose values and bring documents in"),
            ("review_spec", "Can approve, return and retire values of others"),
        ]
        indexes = [
            models.Index(fields=["platform", "metric"], name="spec_platform_metric"),
            models.Index(fields=["state"], name="spec_state"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "metric", "qualifiers"],
                condition=models.Q(rank=Rank.PREFERRED.value, state=SpecState.APPROVED.value),
                name="spec_one_preferred",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform.slug} {self.metric}: {self.shown}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        # SQLite compares JSON as text: one order of keys, so that equal questions are equal.
        self.qualifiers = dict(sorted(self.qualifiers.items()))
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("knowledge:spec", args=[self.pk])

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return self.shown not in (UNKNOWN_VALUE, ABSENT_VALUE)

    @property
    def citation(self) -> Citation | None:
        """The newest citation; from the prefetched rows where there are any."""
        return max(self.citations.all(), key=lambda c: c.pk, default=None)


class Citation(Guarded):
    """The lines of one revision that a spec rests on, with their text as it was read."""

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="citations")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="citations")
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        base_manager_name = "objects"
        ordering = ["revision", "first_line"]
        constraints = [
            models.UniqueConstraint(fields=["spec", "revision"], name="citation_once_per_revision"),
        ]

    def __str__(self) -> str:
        return str(self.line)

    @property
    def line(self) -> CitationLine:
        """The citation as one line of text."""
        path = self.revision.document.path
        return CitationLine(
            self.spec.metric, self.spec.shown, path, self.first_line, self.last_line
        )

    def get_absolute_url(self) -> str:
        return f"{self.revision.get_absolute_url()}#L{self.first_line}"
