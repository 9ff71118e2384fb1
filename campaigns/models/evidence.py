"""The facts that a hypothesis is based on: what was known of the incumbent at that time."""

from __future__ import annotations

from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.candidate import Candidate
from campaigns.models.transitions import FINISHED
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Evidence(Guarded):
    """The facts about one incumbent. Facts gathered after a later round are a new row.

    after: the last closed round. sessions: the number of measurements behind them. facts: in the
    shape that `campaigns.proposers.evidence` documents.
    """

    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="evidence")
    incumbent = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="evidence")
    after = models.PositiveIntegerField()
    sessions = models.PositiveIntegerField()
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["campaign", "incumbent", "after"], name="one_evidence_per_round"
            ),
        )
        ordering = ("pk",)
        verbose_name_plural = "evidence"

    def __str__(self) -> str:
        return f"evidence of {self.campaign} after round {self.after}"

    def refuse_late(self) -> None:
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no new evidence")
