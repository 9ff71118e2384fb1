"""What happened, in order. Append-only: the audit log, which the live page announces."""

from __future__ import annotations

from typing import Any

from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.round import Round
from knowledge.models.guarded import ALWAYS, Guarded


class Event(Guarded):
    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="events")
    round = models.ForeignKey(
        Round, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    kind = models.CharField(max_length=40)
    message = models.TextField()
    data = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def record(campaign: Campaign, kind: str, message: str, **more: Any) -> Event:
    """Append one event; `round` is optional, all other arguments go into its data."""
    round_ = more.pop("round", None)
    return Event.objects.create(
        campaign=campaign, round=round_, kind=kind, message=message, data=more
    )
