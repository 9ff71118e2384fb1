"""One hypothesis tried, the candidates of it, and what somebody handed in for it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from campaigns.evaluator.contract import Source
from campaigns.models.campaign import Campaign
from campaigns.models.kinds import ROUND_KINDS, RoundKind, RoundTraits
from campaigns.models.transitions import FINISHED, RoundState, Stateful
from knowledge.models.guarded import ALWAYS, Guarded, Immutable


class Submitter(models.TextChoices):
    """What handed it in; the values are those of `campaigns.rules.stop.proposers.ProposerKind`."""

    PERSON = "person"
    AGENT = "agent"


class Submission(Guarded):
    """A hypothesis with its source, from a person or an agent. Append-only.

    It waits until a round refers to it (`Round.submission`), and no second round ever does. name:
    of the person or the agent. by: the account behind it; None for a command. hypothesis: the
    fields of `campaigns.proposers.base.Hypothesis`. against: the incumbent that it was written
    against.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign",)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="submissions")
    kind = models.CharField(max_length=20, choices=Submitter)
    name = models.CharField(max_length=150)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    hypothesis = models.JSONField()
    against = models.ForeignKey("campaigns.Candidate", on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=100)
    text = models.TextField()
    flags = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"submission {self.pk} to campaign {self.campaign_id}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.campaign_id, self.pk])

    def refuse_late(self) -> None:
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no submission")

    @property
    def title(self) -> str:
        return str(self.hypothesis["title"])

    @property
    def source(self) -> Source:
        return Source(name=self.file_name, text=self.text, flags=tuple(self.flags))


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
    HIDDEN_WITH = ("campaign",)

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

    def get_absolute_url(self) -> str:
        return reverse("round", args=[self.campaign_id, self.number])

    def refuse_late(self) -> None:
        super().refuse_late()
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no new round")

    @property
    def traits(self) -> RoundTraits:
        """What is different for its kind."""
        return ROUND_KINDS[self.kind]

    @property
    def title(self) -> str:
        hypothesis: dict[str, Any] = self.hypothesis
        return str(hypothesis.get("title") or "Baseline: the problem's own v0")


class Candidate(Guarded):
    """One candidate's code; the digest is over name, text and flags.

    findings: what a reviewer should check in the source, see records/findings.py;
    None in old rows, whose sources were not examined.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

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
