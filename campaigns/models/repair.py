"""Repairs of a failed candidate, within its round and under its hypothesis (R17)."""

from __future__ import annotations

from django.db import models

from campaigns.models.candidate import Candidate
from campaigns.models.evaluation import Evaluation
from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Repair(Guarded):
    """One answer of the proposer to one failure.

    failed: the evaluation that failed. candidate: the replacement; None if there was none. why: the
    reason.
    """

    SEALED = ALWAYS

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="repairs")
    number = models.PositiveIntegerField()
    failed = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="repair")
    candidate = models.OneToOneField(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="repair"
    )
    why = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["round", "number"], name="one_repair_number"),
        )
        ordering = ("round", "number")

    def __str__(self) -> str:
        return f"repair {self.number} in {self.round}"

    def refuse_late(self) -> None:
        if Round.objects.filter(pk=self.round_id, state=RoundState.CLOSED).exists():
            raise Immutable(f"{self.round} is closed and takes no repair")

    @property
    def words(self) -> str:
        """The repair and the failure in one line without a full stop."""
        told = f"repair {self.number}: {self.candidate.label}" if self.candidate else "no repair"
        return f"{told} (after {self.why})" if self.candidate else f"{told}: {self.why}"
