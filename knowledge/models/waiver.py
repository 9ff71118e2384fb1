"""Waiver: why a constraint's warning does not hold for one spec."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from knowledge.models.actor import actor
from knowledge.models.guarded import ALWAYS, Guarded
from knowledge.models.spec import Spec


class Waiver(Guarded):
    """A reasoned exception; it stays beside the spec and silences one constraint there.

    by: null of one that was imported. elsewhere: its `by`, `at` and `reason` as they were there;
    null for one made here.
    """

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="waivers")
    constraint = models.CharField(max_length=40)
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        base_manager_name = "objects"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["spec", "constraint"], name="waiver_once"),
        ]

    def __str__(self) -> str:
        return f"{self.spec}: {self.constraint} waived"

    @property
    def who(self) -> str:
        """Who made it, in words."""
        return actor(self.by, self.elsewhere)
