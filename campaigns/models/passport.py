"""Noise passports, the requests for them, and void measurements."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from campaigns.models.evaluation import Evaluation
from campaigns.models.worker import Worker
from knowledge.models.guarded import ALWAYS, Guarded


class PassportWish(Guarded):
    """A person's request for a new passport. It stays open until a passport answers it."""

    SEALED = ALWAYS

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="passport_wishes")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "passport wishes"

    def __str__(self) -> str:
        return f"request for a passport of {self.worker}"


class Passport(Guarded):
    """One noise passport: A/A sessions of a few kernel lengths. The newest of a device counts.

    card: the device itself, as `Worker.card`. host: the measuring conditions by name (driver, clock
    policy, ...). lengths, conditions, failures: see rules/noise/passport.py. reports: every session
    as `campaigns.evaluator.contract.Report`, with all samples. error: why a failed attempt has none
    of these. answers: the request that was open when it started, because the clocks of two hosts
    cannot order them.
    """

    SEALED = ALWAYS

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="passports")
    card = models.CharField(max_length=200)
    device = models.CharField(max_length=40)
    backend = models.CharField(max_length=40)
    why = models.CharField(max_length=300)
    answers = models.ForeignKey(
        PassportWish, null=True, blank=True, on_delete=models.PROTECT, related_name="passports"
    )
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


class Void(Guarded):
    """A measurement without a conclusion, because the device or the host changed during it.

    found: each reason with its numbers (`campaigns.rules.noise.drift.Disturbance`).
    """

    SEALED = ALWAYS

    evaluation = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="void")
    sentence = models.TextField()
    found = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.evaluation} is void"
