"""The answer to a request with an Idempotency-Key, so that asking again does nothing again."""

from __future__ import annotations

from django.conf import settings
from django.db import models


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
