"""The time at which a campaign entered each state: one row per change, never updated."""

from __future__ import annotations

from django.db import models

from campaigns.models.campaign import Campaign
from knowledge.models.guarded import ALWAYS, Guarded


class Phase(Guarded):
    """One entry into one state; the newest row is the current one. Only `move` writes it."""

    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="phases")
    state = models.CharField(max_length=20)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.state} of {self.campaign}"
