"""Placeholder: a value without a citation that a named person allowed for one campaign (R3)."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.transitions import CampaignState
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Placeholder(Guarded):
    """An assumed ceiling of a draft. Figures based on it are labelled and never a headline.

    question: a key of rules/target/ceilings.py `QUESTIONS`. value: in the canonical `unit`. shown:
    as it was given. Immutable once the campaign is confirmed (R1).
    """

    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="placeholders")
    question = models.CharField(max_length=40)
    value = models.FloatField()
    unit = models.CharField(max_length=16)
    shown = models.CharField(max_length=80)
    reason = models.TextField()
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=["campaign", "question"], name="one_placeholder_per_question"
            ),
        )

    def __str__(self) -> str:
        return f"{self.question} {self.shown} of campaign {self.campaign_id}"

    def refuse_late(self) -> None:
        drafts = Campaign.objects.filter(pk=self.campaign_id, state=CampaignState.DRAFT)
        if not drafts.exists():
            raise Immutable(f"campaign {self.campaign_id} is confirmed and takes no placeholder")
