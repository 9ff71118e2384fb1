"""A password that somebody tried: so that all web processes know how many were wrong lately."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class LoginAttempt(models.Model):
    """One attempt that was not right, by address or by name. key: a digest of which."""

    key = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=["key", "at"], name="attempts_of_a_key"),)

    def __str__(self) -> str:
        return f"attempt at {self.at:%H:%M:%S}"
