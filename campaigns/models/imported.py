"""Campaigns of other systems and installations: their claims, kept apart.

Nothing here is a verdict of kopt (law 2): no gain, noise or experience is derived from it, and
no other table refers to it.
"""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from campaigns.rules.wording import as_claimed
from knowledge.models.guarded import ALWAYS, Guarded, GuardedQuerySet, Immutable, person


class ImportedCampaigns(models.Manager["ImportedCampaign"]):
    """Without the files, which are large; a row reads its own when they are asked for."""

    def get_queryset(self) -> models.QuerySet[ImportedCampaign]:
        return GuardedQuerySet(self.model, using=self._db).defer("files")


class ImportedCampaign(Guarded):
    """One imported trail, complete or not stored at all. It is sealed with its last row.

    digest: of all its files, so that the same content is imported once. system: the system that
    wrote it, as `campaigns.trails.importers.claims.System`. facts, tips: claims, each with field,
    value, unit, path and line. incumbent: the name of the round that it calls its best; empty if it
    names none. missing: what its format has and it lacks. left_out: files that are not text.
    files: path → text of all others, unchanged.
    """

    SEALED = models.Q(sealed=True)

    digest = models.CharField(max_length=64, unique=True)
    system = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    title = models.TextField(blank=True)
    operator = models.TextField(blank=True)
    platform = models.TextField(blank=True)
    backend = models.TextField(blank=True)
    incumbent = models.TextField(blank=True)
    stop_reason = models.TextField(blank=True)
    facts = models.JSONField(default=list)
    tips = models.JSONField(default=list)
    missing = models.JSONField(default=list)
    left_out = models.JSONField(default=list)
    files = models.JSONField(default=dict)
    sealed = models.BooleanField(default=False)
    imported_by = person()
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = ImportedCampaigns()  # type: ignore[assignment, misc]

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"imported campaign {self.pk} ({self.name})"

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("imported_campaign", args=[self.pk])

    @property
    def heading(self) -> str:
        """Its own title, or else the name that it was imported under."""
        return self.title or self.name


class ImportedRound(Guarded):
    """One attempt as its system recorded it: `campaigns.trails.importers.claims.ClaimedRound`.

    ordinal: its place in the trail, from 1. number: as its system gave it; it may occur twice.
    """

    SEALED = ALWAYS

    campaign = models.ForeignKey(ImportedCampaign, on_delete=models.PROTECT, related_name="rounds")
    ordinal = models.PositiveIntegerField()
    number = models.BigIntegerField(null=True, blank=True)
    name = models.TextField()
    title = models.TextField(blank=True)
    hypothesis = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    status = models.TextField(blank=True)
    kept = models.BooleanField(null=True)
    masked = models.BooleanField(null=True)
    figure = models.FloatField(null=True)
    unit = models.TextField(blank=True)
    metric = models.TextField(blank=True)
    convention = models.TextField(blank=True)
    amends = models.TextField(blank=True)
    path = models.TextField()
    line = models.PositiveIntegerField()
    kernel = models.TextField(blank=True)
    at = models.TextField(blank=True)
    claims = models.JSONField(default=list)
    missing = models.JSONField(default=list)

    class Meta:
        ordering = ("campaign", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["campaign", "ordinal"], name="one_imported_ordinal"),
        )

    def __str__(self) -> str:
        return f"{self.name} of imported campaign {self.campaign_id}"

    @property
    def claimed(self) -> str:
        """Its figure as it was written."""
        return as_claimed(self.figure, self.unit)

    def refuse_late(self) -> None:
        if ImportedCampaign.objects.filter(pk=self.campaign_id, sealed=True).exists():
            raise Immutable(
                f"imported campaign {self.campaign_id} is complete and takes no more rows"
            )
