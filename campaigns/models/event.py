"""What happened in a campaign, in order, and its answers to rounds without a gain (R40, R48).

Events are the audit log, which the live page announces. All rows are append-only.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from campaigns.models.campaign import Campaign
from campaigns.models.round import Round
from campaigns.models.transitions import FINISHED
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


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


class Kept(Guarded):
    """Base of rows that are added while the campaign runs and never changed."""

    SEALED = ALWAYS

    class Meta:
        abstract = True

    def refuse_late(self) -> None:
        campaign: int = self.campaign_id  # type: ignore[attr-defined]
        if Campaign.objects.filter(pk=campaign, state__in=FINISHED).exists():
            raise Immutable(f"campaign {campaign} is finished; it takes no {type(self).__name__}")


class Review(Kept):
    """A stagnation review after `after` rounds.

    failures: reason of a verdict → rounds. directions: the fields of `rules.stop.ladder.Way`, those
    that differ most from the failures first. note: a remark on them, or "".
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="reviews")
    after = models.PositiveIntegerField()
    streak = models.PositiveIntegerField()
    failures = models.JSONField(default=dict)
    directions = models.JSONField(default=list)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["campaign", "after"], name="one_review_per_round"),
        )
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"review of {self.campaign} after round {self.after}"


class RestartAnswer(models.TextChoices):
    TAKEN = "taken"
    DECLINED = "declined"


class Restart(Kept):
    """The one partial restart that a campaign is offered, and the answer.

    masked: the numbers of the rounds hidden from the proposer, drawn by `seed`; empty if declined.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.PROTECT, related_name="restart")
    after = models.PositiveIntegerField()
    answer = models.CharField(max_length=20, choices=RestartAnswer)
    why = models.TextField()
    seed = models.BigIntegerField()
    masked = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"restart of {self.campaign} after round {self.after}: {self.answer}"


class Unmasking(Kept):
    """A masked round that a person made visible to the proposer again."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="unmaskings")
    number = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["campaign", "number"], name="one_unmasking_per_round"),
        )
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"round {self.number} of {self.campaign} is unmasked"
