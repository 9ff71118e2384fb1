"""What follows from evaluations: the verdict of a round, how far it is confirmed, its commit."""

from __future__ import annotations

from django.db import models
from django.utils.functional import cached_property

from campaigns.models.evaluation import Evaluation
from campaigns.models.event import Datum, Event
from campaigns.models.round import Round
from campaigns.models.transitions import RoundState
from campaigns.rules.verdict.decision import SECOND_SESSION, VerdictWord
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Verdict(Guarded):
    """The verdict of one round, computed by rules/verdict/decide.py from stored samples.

    gain, gain_low, gain_high: relative to the incumbent of the round (0.05 is 5 % faster).
    gates: name, passed, found, limit, citation of each gate in reading order.
    cases: per case times and gain with interval. classes: the gain of each config class with its
    cases; empty if nothing was compared, None in old rows.
    noise: the noise floor used: its value, its origin in words, and the key of its noise passport;
    None in old rows.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="verdict")
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="verdicts")
    word = models.CharField(max_length=30)
    reason = models.CharField(max_length=40)
    sentence = models.TextField()
    gain = models.FloatField(null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    pairs = models.PositiveIntegerField(default=0)
    interval_kind = models.CharField(max_length=100, blank=True)
    gates = models.JSONField(default=list)
    cases = models.JSONField(default=list)
    classes = models.JSONField(null=True, blank=True)
    noise = models.JSONField(null=True, blank=True)
    decided_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.word} ({self.reason}): {self.round}"

    @cached_property
    def sessions(self) -> list[int]:
        """Keys of the evaluations that its times and gain are of; two if they are pooled.

        One query for a round that was measured again, unless its standings were prefetched.
        """
        pooled = any(g["name"] == SECOND_SESSION and g["passed"] is not None for g in self.gates)
        again = self.round.standings.all() if pooled else ()
        words = (StandingWord.VERIFIED, StandingWord.NOT_VERIFIED)
        keys = [standing.evaluation_id for standing in again if standing.word in words]
        return list(dict.fromkeys([self.evaluation_id, *keys]))

    @property
    def sessions_words(self) -> str:
        """The same in words: "evaluation 12", "evaluations 12 and 15, pooled"."""
        first, *again = self.sessions
        return f"evaluations {first} and {again[0]}, pooled" if again else f"evaluation {first}"


class StandingWord(models.TextChoices):
    """claimed → verified or not verified; verified → reproduced, not reproduced or untold."""

    CLAIMED = "claimed", "claimed"
    VERIFIED = "verified", "verified"
    NOT_VERIFIED = "not_verified", "not verified"
    REPRODUCED = "reproduced", "reproduced"
    NOT_REPRODUCED = "not_reproduced", "not reproduced"
    UNTOLD = "untold", "verified; untold elsewhere"


# What each word means, for a first-time reader.
MEANINGS: dict[str, str] = {
    StandingWord.CLAIMED: "one session showed the gain; it is being measured again",
    StandingWord.VERIFIED: "a second session, in new processes and on unseen inputs, showed it too",
    StandingWord.NOT_VERIFIED: "no second session showed it, so it was not accepted",
    StandingWord.REPRODUCED: "another device of this model showed it as well",
    StandingWord.NOT_REPRODUCED: "another device of this model did not show it; a person decides",
    StandingWord.UNTOLD: "another device of this model is too noisy to show a gain of this size",
}


class Standing(Guarded):
    """One status of one round, with the session that shows it. The newest row counts.

    A baseline claims no gain, and so has no standing. gain, gain_low, gain_high: of that session
    alone, relative to the incumbent of the round; None if it was not timed.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="standings")
    word = models.CharField(max_length=20)
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="standings")
    sentence = models.TextField()
    gain = models.FloatField(null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    pairs = models.PositiveIntegerField(default=0)
    interval_kind = models.CharField(max_length=100, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["round", "word"], name="one_standing_per_word"),
        )
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.words}: {self.round}"

    @property
    def words(self) -> str:
        """The status as people read it."""
        return StandingWord(self.word).label

    @cached_property
    def answer(self) -> StandingAnswer | None:
        """What a person said of a gain that was not reproduced; one query for such a one."""
        if self.word != StandingWord.NOT_REPRODUCED:
            return None
        rows = StandingAnswer.objects.filter(round=self.round_id, data__standing=self.pk)
        found: StandingAnswer | None = rows.select_related("by").first()
        return found

    @property
    def needs_answer(self) -> bool:
        """Whether a person still has to decide what follows."""
        return self.word == StandingWord.NOT_REPRODUCED and self.answer is None


class Answer(models.TextChoices):
    """A person's conclusion about a gain that another device did not show."""

    RELIED_ON = "relied_on", "relied on all the same"
    NOT_RELIED_ON = "not_relied_on", "not to be relied on"


class StandingAnswer(Event):
    """A person's answer to a gain that was not reproduced. It does not change the incumbent.

    standing: the key of the `Standing` that it answers.
    """

    KIND = "standing_answered"

    standing = Datum[int]()
    answer = Datum[str]()
    why = Datum[str]()

    class Meta:
        proxy = True

    @property
    def words(self) -> str:
        """The answer as people read it."""
        return Answer(self.answer).label


class Commit(Guarded):
    """The parts of a round's commit that no sealed record holds, and the hash of the commit.

    A later kopt can recreate the repository from them, even if it words a message differently.
    source: the committed text where a formatter changed the candidate's; else empty, and the text
    is the candidate's own. note: the result of the formatting; empty if none was requested.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

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
