"""The history of a value, never rewritten: its changes, and the warnings that were waived."""

from __future__ import annotations

from datetime import datetime

from django.db import models

from knowledge.models.guarded import ALWAYS, Guarded, actor, person
from knowledge.models.spec import Spec, SpecQuerySet, SpecState


class Action(models.TextChoices):
    """What happened to a spec."""

    PROPOSED = "proposed", "proposed"
    APPROVED = "approved", "approved"
    RETURNED = "returned", "returned"
    RETIRED = "retired", "retired"
    RESTORED = "restored", "restored"
    RANKED = "ranked", "ranked"
    CITED = "cited", "cited again"
    FLAGGED = "flagged", "flagged"
    ANSWERED = "answered", "answered"
    WAIVED = "waived", "warning waived"


class SpecChange(Guarded):
    """One step in the life of a spec, with its state and rank after it.

    by: null for a command of this installation (an import of the shipped wiki, a measurement), and
    for a step that was imported: no name in a file is one of a user here.
    before, after: the figures that changed, as a page shows them. elsewhere: of a step that was
    imported with its value, `by`, `at` and `why` as they were there; null for what happened here.
    """

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="changes")
    at = models.DateTimeField(auto_now_add=True)
    by = person()
    action = models.CharField(max_length=16, choices=Action.choices)
    state = models.CharField(max_length=16, choices=SpecState.choices)
    rank = models.CharField(max_length=16)
    before = models.CharField(max_length=300, blank=True)
    after = models.CharField(max_length=300, blank=True)
    why = models.TextField(blank=True)
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        base_manager_name = "objects"
        ordering = ["-pk"]
        indexes = [models.Index(fields=["spec", "at"], name="change_spec_at")]

    def __str__(self) -> str:
        return f"{self.spec}: {self.action}"

    @property
    def who(self) -> str:
        """Who did it, in words."""
        return actor(self.by, self.elsewhere)


def approved_at(specs: SpecQuerySet, when: datetime) -> models.QuerySet[Spec]:
    """The specs that were approved at that time, annotated with `rank_then`.

    A spec without a history (stored before there was one) counts as it is now, from its creation.
    """
    last = SpecChange.objects.filter(spec=models.OuterRef("pk"), at__lte=when).order_by("-pk")
    then = specs.filter(created_at__lte=when).annotate(
        state_then=models.Subquery(last.values("state")[:1]),
        rank_then=models.Subquery(last.values("rank")[:1]),
    )
    known = then.filter(state_then=SpecState.APPROVED)
    unwritten = then.filter(state_then=None, state=SpecState.APPROVED)
    return known | unwritten


class Waiver(Guarded):
    """A reasoned exception; it stays beside the spec and silences one constraint there.

    by: null of one that was imported. elsewhere: its `by`, `at` and `reason` as they were there;
    null for one made here.
    """

    SEALED = ALWAYS

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="waivers")
    constraint = models.CharField(max_length=40)
    reason = models.CharField(max_length=500)
    by = person()
    at = models.DateTimeField(auto_now_add=True)
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        base_manager_name = "objects"
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["spec", "constraint"], name="waiver_once")]

    def __str__(self) -> str:
        return f"{self.spec}: {self.constraint} waived"

    @property
    def who(self) -> str:
        """Who made it, in words."""
        return actor(self.by, self.elsewhere)
