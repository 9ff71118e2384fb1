"""Strategy: a named technique of the catalogue, read from the tables of the wiki's guides (R42)."""

from __future__ import annotations

from django.db import models
from django.urls import reverse


class StrategyKind(models.TextChoices):
    """What an entry of the catalogue advises."""

    TECHNIQUE = "technique", "technique"
    ANTI_PATTERN = "anti_pattern", "anti-pattern"
    DISCIPLINE = "discipline", "discipline"


class Strategy(models.Model):
    """One row of a guide's table, as the newest import of the wiki has it.

    slug: our id, such as `tr.swizzle`. aliases: other names of the same thing: recipes, sweeps, and
    what other systems call it. limits: the bottlenecks that it is for (`Bottleneck` values, or the
    groups memory and compute); empty for any. backend: "" for any. vendors, archs, ops: where it
    applies; empty for anywhere. instead: of an anti-pattern, what to do instead. recipes: those of
    the aliases that rewrite a source by themselves. document, line: the row in the wiki.
    withdrawn: no longer in the wiki; kept, because experience refers to it.
    """

    slug = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=16, choices=StrategyKind.choices)
    title = models.CharField(max_length=300)
    backend = models.CharField(max_length=40, blank=True)
    limits = models.JSONField(default=list, blank=True)
    vendors = models.JSONField(default=list, blank=True)
    archs = models.JSONField(default=list, blank=True)
    ops = models.JSONField(default=list, blank=True)
    use_when = models.TextField(blank=True)
    what = models.TextField(blank=True)
    verify = models.TextField(blank=True)
    failure = models.TextField(blank=True)
    instead = models.TextField(blank=True)
    aliases = models.JSONField(default=list, blank=True)
    recipes = models.JSONField(default=list, blank=True)
    document = models.CharField(max_length=300)
    line = models.PositiveIntegerField()
    withdrawn = models.BooleanField(default=False)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "strategies"

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("experience:strategy", args=[self.slug])
