"""The source of one attempt in a round (a sweep or a repair gives a round several)."""

from __future__ import annotations

from django.db import models

from campaigns.evaluator.contract import Source
from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Candidate(Guarded):
    """One candidate's code; the digest is over name, text and flags.

    findings: what a reviewer should check in the source, see records/findings.py;
    None in old rows, whose sources were not examined.
    """

    SEALED = ALWAYS

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="candidates")
    ordinal = models.PositiveIntegerField()
    label = models.CharField(max_length=200)
    file_name = models.CharField(max_length=100)
    text = models.TextField()
    flags = models.JSONField(default=list)
    params = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, db_index=True)
    findings = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["round", "ordinal"], name="one_candidate_ordinal"),
        )
        ordering = ("round", "ordinal")

    def __str__(self) -> str:
        return f"candidate {self.ordinal} of {self.round}"

    def refuse_late(self) -> None:
        if Round.objects.filter(pk=self.round_id, state=RoundState.CLOSED).exists():
            raise Immutable(f"{self.round} is closed and takes no new candidate")

    @property
    def source(self) -> Source:
        return Source(name=self.file_name, text=self.text, flags=tuple(self.flags))
