"""The git commit of an accepted round: created in git first, then recorded here once."""

from __future__ import annotations

from django.db import models

from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Commit(Guarded):
    """The parts of a round's commit that no sealed record holds, and the hash of the commit.

    A later kopt can recreate the repository from them, even if it words a message differently.
    source: the committed text where a formatter changed the candidate's; else empty, and the text
    is the candidate's own. note: the result of the formatting; empty if none was requested.
    """

    SEALED = ALWAYS

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="commit")
    branch = models.CharField(max_length=200)
    sha = models.CharField(max_length=40)
    message = models.TextField()
    source = models.TextField(blank=True)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"commit {self.short} of {self.round}"

    @property
    def short(self) -> str:
        """The short form of the hash."""
        return self.sha[:12]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    def refuse_late(self) -> None:
        accepted = Round.objects.filter(
            pk=self.round_id, state=RoundState.CLOSED, verdict__word=VerdictWord.ACCEPTED
        )
        if not accepted.exists():
            raise Immutable(f"{self.round} is not accepted and closed, and has no commit")
