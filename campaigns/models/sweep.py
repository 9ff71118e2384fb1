"""One round's search over the knobs of a source, and every point that it tried."""

from __future__ import annotations

from django.db import models

from campaigns.evaluator.contract import Outcome
from campaigns.models.evaluation import Evaluation
from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from knowledge.models.guarded import ALWAYS, Guarded, Immutable

PRUNED = "pruned"


class Sweep(Guarded):
    """What is searched, and how. The points are variants of the round's incumbent.

    knobs: a list of {"name", "values", "default"}. size: how many points there are, as a number in
    decimal digits, for it may be larger than a column holds. seeds: points to try first, and why.
    most_points, most_s: when the search ends at the latest.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="sweep")
    knobs = models.JSONField()
    size = models.CharField(max_length=60)
    strategy = models.CharField(max_length=40)
    seed = models.PositiveBigIntegerField(default=0)
    seeds = models.JSONField(default=list)
    most_points = models.PositiveIntegerField()
    most_s = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"sweep of {self.round}"


class SweepPoint(Guarded):
    """One variant. number: in the order of asking, from 1; point 1 is the source as it was.

    times_us: by case, of the screen. time_us: their geometric mean; None without a time.
    ended_early: far behind the best, so only timed briefly. facts: a build's, as
    `campaigns.evaluator.contract.BuildFacts`. evaluation: in which it was tried.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("sweep",)

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="points")
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="points")
    number = models.PositiveIntegerField()
    params = models.JSONField()
    outcome = models.CharField(
        max_length=20, choices=[*((o.value, o.value) for o in Outcome), (PRUNED, PRUNED)]
    )
    reason = models.TextField(blank=True)
    time_us = models.FloatField(null=True, blank=True)
    times_us = models.JSONField(default=dict)
    ended_early = models.BooleanField(default=False)
    facts = models.JSONField(default=dict)
    build_s = models.FloatField(default=0.0)
    screen_s = models.FloatField(default=0.0)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["sweep", "number"], name="one_sweep_point_number"),
        )
        ordering = ("sweep", "number")

    def __str__(self) -> str:
        return f"point {self.number} of {self.sweep}"

    def refuse_late(self) -> None:
        if Round.objects.filter(sweep=self.sweep_id, state=RoundState.CLOSED).exists():
            raise Immutable(f"{self.sweep.round} is closed and takes no new point")
