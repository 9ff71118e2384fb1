"""One hypothesis tried. Round 1 is the baseline."""

from __future__ import annotations

from typing import Any

from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.transitions import FINISHED, RoundState, Stateful
from knowledge.models.guarded import Immutable


class RoundKind(models.TextChoices):
    BASELINE = "baseline"
    ATTEMPT = "attempt"
    SWEEP = "sweep"
    SPLIT = "split"


class Round(Stateful):
    """One hypothesis, its candidates and the result; immutable once closed.

    A campaign has at most one open round (R51); the database enforces this.

    hypothesis: the fields of `campaigns.proposers.base.Hypothesis`; empty for the baseline.
    evidence: the facts behind the hypothesis. draft: the proposer's sources, as
    `campaigns.steps.rounds.open_round` reads them; None once they are candidates.
    against: the incumbent when the round was opened: the other arm of its measurements.
    chosen: the candidate that the verdict is about.
    split: for a dispatch split, as steps/rounds/split.py writes it: the predicate in words, the
    classes that run the variant, the round whose kernel each class runs, and the digests of both
    sources. None in every other round.
    submission: what the round tries, where a person or an agent handed it in.
    """

    SEALED = models.Q(state=RoundState.CLOSED)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=RoundKind, default=RoundKind.ATTEMPT)
    state = models.CharField(max_length=20, choices=RoundState, default=RoundState.OPEN)
    hypothesis = models.JSONField(default=dict)
    split = models.JSONField(null=True, blank=True)
    evidence = models.ForeignKey(
        "campaigns.Evidence", null=True, blank=True, on_delete=models.PROTECT, related_name="rounds"
    )
    draft = models.JSONField(null=True, blank=True)
    submission = models.ForeignKey(
        "campaigns.Submission",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rounds",
    )
    against = models.ForeignKey(
        "campaigns.Candidate", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    chosen = models.ForeignKey(
        "campaigns.Candidate", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["campaign", "number"], name="one_round_number"),
            models.UniqueConstraint(
                fields=["campaign"],
                condition=~models.Q(state=RoundState.CLOSED),
                name="one_open_round_per_campaign",
            ),
            # With a condition: for one without, SQLite would rebuild the table without triggers.
            models.UniqueConstraint(
                fields=["submission"],
                condition=models.Q(submission__isnull=False),
                name="one_round_per_submission",
            ),
        )
        ordering = ("campaign", "number")

    def __str__(self) -> str:
        return f"round {self.number} of campaign {self.campaign_id}"

    def refuse_late(self) -> None:
        super().refuse_late()
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no new round")

    @property
    def title(self) -> str:
        hypothesis: dict[str, Any] = self.hypothesis
        return str(hypothesis.get("title") or "Baseline: the problem's own v0")
