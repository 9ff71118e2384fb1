"""What people decide about a round or a campaign's result: who, when, why, and what they took back.

A decision changes no verdict and no number. It stands beside them, and a later one of the same
person takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.round import Round
from knowledge.models.guarded import ALWAYS, Guarded, GuardedQuerySet
from knowledge.models.sight import SeenManager


class DecisionWord(models.TextChoices):
    """What a person may say; `UNDONE` takes an own decision back."""

    APPROVED = "approved", "approved"
    RETURNED = "returned", "returned"
    INVALID = "invalid", "marked invalid"
    RERUN = "rerun", "sent for a re-run"
    UNDONE = "undone", "taken back"


class ReviewDecisionQuerySet(GuardedQuerySet["ReviewDecision"]):
    def not_undone(self) -> ReviewDecisionQuerySet:
        """Without what was taken back, and without the taking back."""
        back = ReviewDecision.objects.filter(undoes=models.OuterRef("pk"))
        return self.exclude(word=DecisionWord.UNDONE).exclude(models.Exists(back))

    def counting(self) -> list[ReviewDecision]:
        """What counts now: of each person the newest that was not taken back, oldest first."""
        return newest_of_each(self.not_undone().order_by("pk"))


def newest_of_each(rows: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    """Keep the last decision of each person about each subject, of decisions in their order."""
    found: dict[tuple[int, int | None, int], ReviewDecision] = {}
    for row in rows:
        key = (row.campaign_id, row.round_id, row.by_id)
        found.pop(key, None)
        found[key] = row
    return list(found.values())


class ReviewDecision(Guarded):
    """One decision of one person. Append-only.

    round: None where it is about the campaign's result. reason: empty where none is asked for.
    undoes: the decision that this one takes back, of the same person.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign",)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="decisions")
    round = models.ForeignKey(
        Round, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    word = models.CharField(max_length=20, choices=DecisionWord)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone"
    )
    at = models.DateTimeField(auto_now_add=True)

    objects = SeenManager.from_queryset(ReviewDecisionQuerySet)()  # type: ignore[assignment, misc]

    class Meta:
        ordering = ("pk",)
        permissions = [("review_round", "Can decide about rounds and results of others")]
        constraints = (
            models.CheckConstraint(
                condition=models.Q(undoes__isnull=False, word=DecisionWord.UNDONE)
                | (models.Q(undoes__isnull=True) & ~models.Q(word=DecisionWord.UNDONE)),
                name="undone_names_what",
            ),
        )

    def __str__(self) -> str:
        about = self.round or f"the result of {self.campaign}"
        return f"{self.get_word_display()} by {self.by}: {about}"
