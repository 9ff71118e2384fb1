"""A token: what a program shows instead of a session, for one person and some scopes."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from knox.models import AbstractAuthToken


class Scope(models.TextChoices):
    """What a token may do at most. Deciding, deleting and changing targets is no scope: people do.

    Its person's role counts as well: no token may do what its person may not.
    """

    READ = "read", "read everything"
    RUN = "run", "start and steer campaigns, ask for passports"
    SUBMIT = "submit", "hand in what was tried"
    CURATE = "curate", "propose values and ask questions"


class Token(AbstractAuthToken):
    """Only a digest of the token is stored. Each token reads; scopes: what it may do beside that.

    name: what its person calls it.
    """

    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list)

    class Meta:
        ordering = ("created", "digest")

    def __str__(self) -> str:
        return f"token {self.token_key} ({self.name})"

    @property
    def is_expired(self) -> bool:
        """Whether it no longer opens anything."""
        return self.expiry is not None and self.expiry <= timezone.now()

    def allows(self, scope: Scope) -> bool:
        return scope == Scope.READ or scope in self.scopes
