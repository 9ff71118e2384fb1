"""Noise passports."""

from __future__ import annotations

from django.db import models

from campaigns.models.worker import Worker
from knowledge.models.guarded import ALWAYS, Guarded


class Passport(Guarded):
    """One noise passport: A/A sessions of a few kernel lengths. The newest of a device counts.

    card: the device itself, as `Worker.card`. host: the measuring conditions by name (driver, clock
    policy, ...). lengths, conditions, failures: see rules/noise/passport.py. reports: every session
    as `campaigns.evaluator.contract.Report`, with all samples. error: why a failed attempt has none
    of these.
    """

    SEALED = ALWAYS

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="passports")
    card = models.CharField(max_length=200)
    device = models.CharField(max_length=40)
    backend = models.CharField(max_length=40)
    why = models.CharField(max_length=300)
    host = models.JSONField(default=dict)
    lengths = models.JSONField(default=list)
    conditions = models.JSONField(default=dict)
    failures = models.JSONField(default=list)
    reports = models.JSONField(default=list)
    error = models.TextField(blank=True)
    wall_s = models.FloatField(default=0.0)
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"passport {self.pk} of {self.worker}"
