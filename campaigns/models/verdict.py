"""The conclusion from an evaluation, with its reason and its gates."""

from __future__ import annotations

from django.db import models

from campaigns.models.evaluation import Evaluation
from campaigns.models.round import Round
from knowledge.models.guarded import ALWAYS, Guarded


class Verdict(Guarded):
    """The verdict of one round, computed by rules/verdict/decide.py from stored samples.

    gain, gain_low, gain_high: relative to the incumbent of the round (0.05 is 5 % faster).
    gates: name, passed, found, limit, citation of each gate in reading order.
    cases: per case times and gain with interval. classes: the gain of each config class with its
    cases; empty if nothing was compared, None in old rows.
    noise: the noise floor used: its value, its origin in words, and the key of its noise passport;
    None in old rows.
    """

    SEALED = ALWAYS

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="verdict")
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="verdicts")
    word = models.CharField(max_length=30)
    reason = models.CharField(max_length=40)
    sentence = models.TextField()
    gain = models.FloatField(null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    pairs = models.PositiveIntegerField(default=0)
    interval_kind = models.CharField(max_length=100, blank=True)
    gates = models.JSONField(default=list)
    cases = models.JSONField(default=list)
    classes = models.JSONField(null=True, blank=True)
    noise = models.JSONField(null=True, blank=True)
    decided_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.word} ({self.reason}): {self.round}"
