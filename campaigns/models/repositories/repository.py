"""A git repository that is made faster by its own harness: a campaign without a problem (R9)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from campaigns.models.transitions import RepositoryState, Stateful
from campaigns.rules.harness.description import Harness, read_harness
from knowledge.models import Platform


class Repository(Stateful):
    """One repository on one platform. Its commits lie in a bare repository of ours.

    source: where it came from, in words. harness: its description, as given. base, head: hashes of
    the commit that was brought, and of the last one that was kept. branch: holds what was kept.
    noise: `campaigns.rules.harness.decide.Noise`; empty before the baseline.
    """

    SEALED = models.Q(state=RepositoryState.STOPPED)

    title = models.CharField(max_length=60)
    source = models.CharField(max_length=300)
    harness = models.TextField()
    base = models.CharField(max_length=64, blank=True)
    head = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=100)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="repositories")
    state = models.CharField(max_length=20, choices=RepositoryState, default=RepositoryState.OPEN)
    stop_sentence = models.TextField(blank=True)
    noise = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "repositories"

    def __str__(self) -> str:
        return f"repository {self.pk} ({self.title})"

    def get_absolute_url(self) -> str:
        return reverse("repository", args=[self.pk])

    @property
    def is_finished(self) -> bool:
        """Whether it takes no round any more."""
        return self.state == RepositoryState.STOPPED

    @property
    def described(self) -> Harness:
        """The harness as it was read when the repository was brought."""
        return read_harness(self.harness)
