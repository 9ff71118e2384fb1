"""Waiver: why a constraint's warning does not hold for one spec."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from knowledge.models.guarded import ALWAYS, Guarded
from knowledge.models.spec import Spec


class Waiver(Guarded):
    """A reasoned exception; it stays beside the spec and silences one constraint there."""

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="waivers")
    constraint = models.CharField(max_length=40)
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        base_manager_name = "objects"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["spec", "constraint"], name="waiver_once"),
        ]

    def __str__(self) -> str:
        return f"{self.spec}: {self.constraint} waived"
