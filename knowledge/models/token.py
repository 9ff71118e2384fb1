"""What callers identify themselves with: tokens, answers to repeated calls, wrong logins."""

from __future__ import annotations

from django.conf import settings
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

    name: what its person calls it. used_at: the last use, to the minute.
    """

    name = models.CharField(max_length=80)
    used_at = models.DateTimeField(null=True, blank=True)
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


class KeptAnswer(models.Model):
    """One key of one person. request: a digest of method, address and body.

    status: None while the request is under way. content: the answer's JSON.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    content = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key"),)

    def __str__(self) -> str:
        return f"answer to {self.key}"


class LoginAttempt(models.Model):
    """One wrong password, by address or by name. key: a digest of either."""

    key = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=["key", "at"], name="attempts_of_a_key"),)

    def __str__(self) -> str:
        return f"attempt at {self.at:%H:%M:%S}"
