"""One Problem on one Platform with one backend and one goal; its phases and what it lacks."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from campaigns.models.problem import Case, Problem
from campaigns.models.transitions import FINISHED, CampaignState, Stateful, StatefulQuerySet
from knowledge.models import Platform
from knowledge.models.guarded import ALWAYS, Guarded, person
from knowledge.models.sight import SeenManager


class Protocol(Guarded):
    """The frozen measuring rules of a campaign: one row per distinct set.

    rules: as `campaigns.evaluator.contract.Protocol` reads them. Results of different protocols are
    not comparable.
    """

    SEALED = ALWAYS

    digest = models.CharField(max_length=64, unique=True)
    rules = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"protocol {self.digest[:8]}"


class AbortReason(models.TextChoices):
    """Why a campaign ended without a result. A completed campaign has a StopReason instead."""

    USER = "user"
    BASELINE_FAILED = "baseline_failed"
    PROBLEM_UNUSABLE = "problem_unusable"
    INTERNAL = "internal"


def measured_here(path: str = "") -> models.Q:
    """Leave out rows of samples. path: leads to the campaign, such as "round__campaign__".

    "" for campaigns themselves.
    """
    return models.Q(**{f"{path}recorded_at": None})


def at_work(path: str = "") -> models.Q:
    """The same, and none of what is archived: what people work on."""
    return measured_here(path) & models.Q(**{f"{path}archived": None})


class CampaignQuerySet(StatefulQuerySet["Campaign"]):
    def for_list(self) -> CampaignQuerySet:
        """What the campaign list shows, without a query per row."""
        return self.select_related("problem", "platform", "incumbent__round", "archived").order_by(
            "-pk"
        )

    def unfinished(self) -> CampaignQuerySet:
        return self.exclude(state__in=FINISHED)

    def in_sight(self) -> CampaignQuerySet:
        """Without those that people have archived."""
        return self.filter(archived=None)

    def measured_here(self) -> CampaignQuerySet:
        """Without a sample."""
        return self.filter(measured_here())

    def at_work(self) -> CampaignQuerySet:
        """Without either: what people are asked about and compare with."""
        return self.filter(at_work())


class Campaign(Stateful):
    """State, goal and counters. Everything measured hangs on its rounds; immutable once finished.

    goal: the target that was asked for, as `campaigns.rules.target.goal.Goal.stored`; None means
    `target_fraction` of the stop policy. target: what step 0 found, as written by
    `campaigns.steps.lifecycle.set_target`.
    proposer: the name of the built-in search. proposers: kind → the most rounds it may have, as
    `campaigns.rules.stop.proposers.Budgets`; None in old rows.
    findings_policy: kind of finding → allowed, flagged, review or refused; None in old rows.
    own_kernels: names of kernels that count as the candidate's own although its source does not
    define them; None in old rows.
    intake: the guard and the other stated options, as `Intake.stored`; may be None.
    noise: the A/A result of the baseline: {"sigma": …, "floor": …, "pairs": …}.
    stop_policy: the fields of `campaigns.rules.stop.policy.StopPolicy`.
    result: the incumbent against v0, measured side by side at the end: {"gain", "gain_low",
    "gain_high", "pairs", "interval"}; a gain of 0.05 is 5 % faster, None was not measured. While v0
    is the incumbent there is nothing to compare: a gain of 0.0 without bounds or pairs.
    recorded_at: of a sample, when it was measured elsewhere; None for what is measured here. A
    sample alone may be deleted.
    """

    SEALED = models.Q(state__in=FINISHED)
    HIDDEN_WITH = ("pk",)

    title = models.CharField(max_length=200)
    problem = models.ForeignKey(Problem, on_delete=models.PROTECT)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT)
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT)
    backend = models.CharField(max_length=40)
    cases = models.JSONField(default=list)
    proposer = models.CharField(max_length=40, default="search")
    proposers = models.JSONField(null=True, blank=True)
    state = models.CharField(max_length=20, choices=CampaignState, default=CampaignState.DRAFT)
    paused_from = models.CharField(max_length=20, blank=True)
    pause_requested = models.BooleanField(default=False)
    stop_requested = models.BooleanField(default=False)
    stop_policy = models.JSONField(default=dict)
    stop_reason = models.CharField(max_length=40, blank=True)
    stop_sentence = models.TextField(blank=True)
    goal = models.JSONField(null=True, blank=True)
    target = models.JSONField(default=dict)
    findings_policy = models.JSONField(null=True, blank=True)
    own_kernels = models.JSONField(null=True, blank=True)
    intake = models.JSONField(null=True, blank=True)
    noise = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    incumbent = models.ForeignKey(
        "campaigns.Candidate", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )
    created_at = models.DateTimeField(auto_now_add=True)
    recorded_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = SeenManager.from_queryset(CampaignQuerySet)()  # type: ignore[assignment, misc]

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"campaign {self.pk} ({self.title})"

    def get_absolute_url(self) -> str:
        return reverse("campaign", args=[self.pk])

    def after_move(self) -> None:
        """Record the time of the change of state."""
        self.phases.create(state=self.state)

    @property
    def doing(self) -> str:
        """Its state in words."""
        return CampaignState(self.state).words

    @property
    def stop_words(self) -> str:
        """Why it stopped, in words; "" while it runs."""
        asked = self.stop_reason == AbortReason.USER
        return "a person asked" if asked else self.stop_reason.replace("_", " ")

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_sample(self) -> bool:
        return self.recorded_at is not None

    @property
    def case_rows(self) -> models.QuerySet[Case]:
        """The cases of its problem that it measures, in the problem's order."""
        rows: models.QuerySet[Case] = self.problem.cases.filter(name__in=self.cases)
        return rows

    @property
    def queue(self) -> str:
        return queue_of(self.platform)


class ArchivedCampaign(models.Model):
    """Hides a finished campaign: lists leave it out unless they are asked for it.

    The campaign itself is sealed, so this stands beside it; the row goes when it is brought back.
    Its events say who did either, and when.
    """

    HIDDEN_WITH = ("campaign",)

    campaign = models.OneToOneField(Campaign, models.PROTECT, related_name="archived")
    by = person()
    at = models.DateTimeField(auto_now_add=True)

    objects = SeenManager()

    def __str__(self) -> str:
        return f"{self.campaign}, archived"


def queue_of(platform: Platform) -> str:
    """The Celery queue whose workers measure on this platform."""
    return f"platform.{platform.slug}"


class Phase(Guarded):
    """One entry into one state; the newest row is the current one. Only `move` writes it."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("campaign",)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="phases")
    state = models.CharField(max_length=20)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.state} of {self.campaign}"


class PitfallKind(models.TextChoices):
    """What is wrong with a target.

    FLAGGED is in old rows alone: a value whose citation is flagged enters no target any more.
    """

    UNKNOWN_SPEC = "unknown_spec", "unknown value"
    PLACEHOLDER = "placeholder", "unverified placeholder"
    WHOLE_MODULE = "whole_module", "value of a whole module"
    MEASURED_ELSEWHERE = "measured_elsewhere", "measured on another card"
    BELOW_PEAK = "below_peak", "measured far below the peak"
    FLAGGED = "flagged", "citation is flagged"
    BUSY_HOST = "busy_host", "measured on a busy host"
