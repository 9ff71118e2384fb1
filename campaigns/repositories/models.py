"""A git repository that its own harness makes faster, and its rounds: no problem, no judge (R9)."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings
from django.db import models
from django.urls import reverse

from campaigns.models.round import Submitter
from campaigns.models.transitions import EvaluationState, RepositoryState, Stateful
from campaigns.models.worker import Worker
from campaigns.rules.harness.decide import HarnessResult, Noise, Proven
from campaigns.rules.harness.description import Harness, read_harness
from campaigns.rules.verdict.decision import Reason, VerdictWord
from knowledge.models import Platform
from knowledge.models.guarded import Immutable


class Repository(Stateful):
    """One repository on one platform. Its commits lie in a bare repository of ours.

    source: where it came from, in words. harness: its description, as given. base, head: hashes of
    the commit that was brought, and of the last one that was kept. branch: holds what was kept.
    noise: `campaigns.rules.harness.decide.Noise`; empty before the baseline.
    """

    SEALED = models.Q(state=RepositoryState.STOPPED)

    title = models.CharField(max_length=60)
    source = models.CharField(max_length=300)
    harness = models.TextField()
    base = models.CharField(max_length=64, blank=True)
    head = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=100)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="repositories")
    state = models.CharField(max_length=20, choices=RepositoryState, default=RepositoryState.OPEN)
    stop_sentence = models.TextField(blank=True)
    noise = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "repositories"

    def __str__(self) -> str:
        return f"repository {self.pk} ({self.title})"

    def get_absolute_url(self) -> str:
        return reverse("repository", args=[self.pk])

    @property
    def is_finished(self) -> bool:
        """Whether it takes no round any more."""
        return self.state == RepositoryState.STOPPED

    @property
    def described(self) -> Harness:
        """The harness as it was read when the repository was brought."""
        return read_harness(self.harness)


class RepositoryRound(Stateful):
    """A hypothesis with its patch, and what became of it; immutable once done. Round 1 has none.

    target: the config class that it is about; "" for all. repairs: the round whose failure it
    mends. against, commit: hashes of the incumbent, and of its own commit if it was kept. reason:
    of `campaigns.rules.verdict.decision`. result, proven: `HarnessResult` and `Proven` of
    `campaigns.rules.harness.decide`; empty where nothing was compared, or the judge was not asked.
    holder, heartbeat_at, phase, claims: as of an evaluation.
    """

    SEALED = models.Q(state=EvaluationState.DONE)

    repository = models.ForeignKey(Repository, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=EvaluationState, default=EvaluationState.QUEUED)
    title = models.CharField(max_length=200)
    change = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    target = models.CharField(max_length=300, blank=True)
    patch = models.TextField(blank=True)
    repairs = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="mended")
    kind = models.CharField(max_length=20, choices=Submitter, blank=True)
    name = models.CharField(max_length=150, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    against = models.CharField(max_length=64, blank=True)
    holder = models.CharField(max_length=120, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    phase = models.CharField(max_length=100, blank=True)
    claims = models.PositiveIntegerField(default=0)
    worker = models.ForeignKey(Worker, null=True, blank=True, on_delete=models.PROTECT)
    reason = models.CharField(max_length=40, blank=True)
    sentence = models.TextField(blank=True)
    result = models.JSONField(default=dict)
    proven = models.JSONField(default=dict)
    log = models.TextField(blank=True)
    commit = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["repository", "number"], name="one_repository_round_number"
            ),
            models.UniqueConstraint(
                fields=["repository"],
                condition=models.Q(state=EvaluationState.RUNNING),
                name="one_running_repository_round",
            ),
        )
        ordering = ("repository", "number")

    def __str__(self) -> str:
        return f"round {self.number} of {self.repository}"

    def get_absolute_url(self) -> str:
        return reverse("repository_round", args=[self.repository_id, self.number])

    def refuse_late(self) -> None:
        super().refuse_late()
        stopped = Repository.objects.filter(pk=self.repository_id, state=RepositoryState.STOPPED)
        if stopped.exists():
            raise Immutable(f"repository {self.repository_id} is stopped and takes no new round")

    @property
    def is_baseline(self) -> bool:
        return self.number == 1

    @property
    def verdict(self) -> VerdictWord | None:
        """None while there is none."""
        return Reason(self.reason).verdict if self.reason else None

    @property
    def doing(self) -> str:
        """The verdict in words, or how far it is."""
        if self.verdict is not None:
            return self.verdict.words
        if self.state == EvaluationState.RUNNING:
            return self.phase or "running"
        return f"waits, because {self.phase}" if self.phase else "waits"


def result_of(row: RepositoryRound) -> HarnessResult | None:
    """What the tables showed; None where nothing was compared."""
    return msgspec.convert(row.result, HarnessResult) if row.result else None


def proven_of(row: RepositoryRound) -> Proven | None:
    """What kopt's judge found; None where it was not asked."""
    return msgspec.convert(row.proven, Proven) if row.proven else None


def noise_at(repository: Repository) -> Noise:
    """Raises msgspec.ValidationError before the baseline."""
    return msgspec.convert(repository.noise, Noise)


def stored(value: HarnessResult | Noise | Proven) -> dict[str, Any]:
    """Data that the rows keep."""
    found: dict[str, Any] = msgspec.to_builtins(value)
    return found
