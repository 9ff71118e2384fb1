"""Facts measured about a candidate: outcome, correctness, timings, environment, evidence."""

from __future__ import annotations

import json

from django.db import models

from campaigns.evaluator.contract import Outcome, Report
from campaigns.evaluator.contract.files import load_report
from campaigns.models.campaign import Campaign
from campaigns.models.kinds import EVALUATION_KINDS, EvaluationKind, EvaluationTraits
from campaigns.models.round import Candidate, Round
from campaigns.models.transitions import FINISHED, EvaluationState, RoundState, Stateful
from campaigns.models.worker import Worker
from knowledge.models.guarded import ALWAYS, Guarded, Immutable

# The key of the device in a report's environment.
CARD = "card"
# The key of the device's state before: idle, or why it was measured anyway.
GATE = "device before"
# The key of the digest of the campaign's protocol.
PROTOCOL = "protocol"


class Evaluation(Stateful):
    """One measurement, claimed by one worker at a time; immutable once done.

    report: `campaigns.evaluator.contract.Report` as JSON, with every sample.
    holder, heartbeat_at, phase: the worker that claimed it, its last heartbeat, and its step.
    claims: how often it was claimed; a candidate that keeps killing its worker is given up.
    void: why nothing is concluded from it, because the device or the host changed during it, and
    void_reasons with the numbers (`campaigns.rules.noise.drift.Disturbance`); "" for others.
    """

    SEALED = models.Q(state=EvaluationState.DONE)
    HIDDEN_WITH = ("candidate",)

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="evaluations")
    against = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    kind = models.CharField(max_length=20, choices=EvaluationKind)
    state = models.CharField(max_length=20, choices=EvaluationState, default=EvaluationState.QUEUED)
    attempt = models.PositiveIntegerField(default=1)
    claims = models.PositiveIntegerField(default=0)
    holder = models.CharField(max_length=120, blank=True)
    phase = models.CharField(max_length=20, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    worker = models.ForeignKey(Worker, null=True, blank=True, on_delete=models.PROTECT)
    outcome = models.CharField(
        max_length=20, blank=True, choices=[(o.value, o.value) for o in Outcome]
    )
    reason = models.TextField(blank=True)
    report = models.JSONField(default=dict)
    void = models.TextField(blank=True)
    void_reasons = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["candidate", "kind", "attempt"], name="one_evaluation_per_attempt"
            ),
        )
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.kind} evaluation {self.pk} of {self.candidate}"

    def refuse_late(self) -> None:
        """Refuse a new evaluation of a closed round, except what measures closed ones."""
        super().refuse_late()
        candidates = Candidate.objects.filter(pk=self.candidate_id)
        closed = candidates.filter(round__state=RoundState.CLOSED)
        if not self.traits.is_after_the_round and closed.exists():
            raise Immutable(f"{self.candidate.round} is closed and takes no new {self.kind}")

    def queue_again(self) -> Evaluation:
        """Queue the next attempt at the same measurement."""
        return Evaluation.objects.create(
            candidate=self.candidate, against=self.against, kind=self.kind, attempt=self.attempt + 1
        )

    @property
    def traits(self) -> EvaluationTraits:
        """What is different for its kind."""
        return EVALUATION_KINDS[self.kind]

    @property
    def campaign(self) -> Campaign:
        return self.candidate.round.campaign

    @property
    def card(self) -> str:
        """The device that it was measured on, as `Worker.card`; "" if unknown."""
        environment: dict[str, str] = self.report.get("environment", {})
        return environment.get(CARD, "")

    @property
    def came_to(self) -> str:
        """The outcome; its state while there is none; "not run" if the source was refused."""
        ended = self.state == EvaluationState.DONE
        return self.outcome or ("not run" if ended else str(self.state))

    @property
    def doing(self) -> str:
        """Its state in words, with the step that it is at."""
        if self.state == EvaluationState.QUEUED:
            return "waits in the queue"
        if self.state == EvaluationState.DONE:
            return "is done"
        return f"is under way (step: {self.phase})" if self.phase else "is under way"

    @property
    def facts(self) -> Report | None:
        """The stored report as a value; None before it is done. Raises ContractError."""
        return load_report(json.dumps(self.report)) if self.report else None


class Repair(Guarded):
    """One answer of the proposer to one failure.

    failed: the evaluation that failed. candidate: the replacement; None if there was none. why: the
    reason.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("round",)

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


class Evidence(Guarded):
    """The facts about one incumbent. Facts gathered after a later round are a new row.

    after: the last closed round. sessions: the number of measurements behind them. facts: in the
    shape that `campaigns.proposers.evidence` documents.
    """

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign",)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="evidence")
    incumbent = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="evidence")
    after = models.PositiveIntegerField()
    sessions = models.PositiveIntegerField()
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["campaign", "incumbent", "after"], name="one_evidence_per_round"
            ),
        )
        ordering = ("pk",)
        verbose_name_plural = "evidence"

    def __str__(self) -> str:
        return f"evidence of {self.campaign} after round {self.after}"

    def refuse_late(self) -> None:
        if Campaign.objects.filter(pk=self.campaign_id, state__in=FINISHED).exists():
            raise Immutable(f"campaign {self.campaign_id} is finished and takes no new evidence")
