"""Pitfall: what a reader of a campaign's results must know first."""

from __future__ import annotations

from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.transitions import FINISHED
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class PitfallKind(models.TextChoices):
    """What is wrong. The column accepts any word, because further kinds may be added.

    FLAGGED is in old rows alone: a value whose citation is flagged enters no target any more.
    """

    UNKNOWN_SPEC = "unknown_spec", "unknown value"
    PLACEHOLDER = "placeholder", "unverified placeholder"
    WHOLE_MODULE = "whole_module", "value of a whole module"
    MEASURED_ELSEWHERE = "measured_elsewhere", "measured on another card"
    BELOW_PEAK = "below_peak", "measured far below the peak"
    FLAGGED = "flagged", "citation is flagged"
    BUSY_HOST = "busy_host", "measured on a busy host"


class Pitfall(Guarded):
    """One gap or caveat, recorded when found. Append-only; a finished campaign takes no new one."""

    SEALED = ALWAYS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="pitfalls")
    kind = models.CharField(max_length=40)
    message = models.TextField()
    how_to_obtain = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.words}: {self.message}"

    @property
    def words(self) -> str:
        """The kind as pages write it."""
        known = {kind.value: str(kind.label) for kind in PitfallKind}
        return known.get(self.kind, self.kind)

    def refuse_late(self) -> None:
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no new pitfall")
