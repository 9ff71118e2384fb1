"""The git commit of an accepted round: made in git first, then written down here, once."""

from __future__ import annotations

from django.db import models

from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Commit(Guarded):
    """What a round's commit is made of beyond the sealed records, and the hash that came of it.

    So the repository can be made again by a later kopt, which might word a message differently.
    source: the committed text where a formatter changed the candidate's; else empty, and the text
    is the candidate's own. note: what became of the formatting; empty where none was asked for.
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
        """As much of the hash as people read."""
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
