"""Platform: one exact product, never a family."""

from __future__ import annotations

from django.db import models
from django.urls import reverse


class Platform(models.Model):
    """A GPU product or this CPU.

    `target` is the compiler's name for it (sm_90a, gfx942, native). `aliases` are the names that
    drivers report, such as "NVIDIA H200"; a host is recognised by them and by nothing looser.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=80)
    arch = models.CharField(max_length=80)
    kind = models.CharField(max_length=8)
    target = models.CharField(max_length=40)
    aliases = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["kind", "vendor", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("knowledge:platform", args=[self.slug])
