"""Lesson: a curated takeaway. Gap: an open question. Disagreement: two that say the opposite."""

from __future__ import annotations

import textwrap
import uuid

from django.db import models
from django.urls import reverse

from knowledge.models.experience import Experience
from knowledge.models.guarded import ALWAYS, Guarded, actor, person
from knowledge.models.sight import NO_PROJECT, SeenManager


class Scoped(models.Model):
    """Base of what holds in a scope; "" is any."""

    SCOPE = ("op", "dtype", "backend", "platform", "arch", "strategy")

    op = models.CharField(max_length=60, blank=True)
    dtype = models.CharField(max_length=20, blank=True)
    backend = models.CharField(max_length=40, blank=True)
    platform = models.CharField(max_length=80, blank=True)
    arch = models.CharField(max_length=40, blank=True)
    strategy = models.CharField(max_length=120, blank=True)

    class Meta:
        abstract = True

    @classmethod
    def longest(cls, name: str) -> int:
        """The most characters of a field of the scope."""
        return int(getattr(cls._meta.get_field(name), "max_length", 0))

    @property
    def scope(self) -> dict[str, str]:
        """The fields of its scope that are set."""
        return {name: getattr(self, name) for name in self.SCOPE if getattr(self, name)}


class LessonState(models.TextChoices):
    """Machines read only active lessons and anti-patterns; people see all (R41)."""

    PROPOSED = "proposed", "proposed"
    ACTIVE = "active", "active"
    ANTI_PATTERN = "anti_pattern", "anti-pattern"
    RETURNED = "returned", "returned"
    RETRACTED = "retracted", "retracted"


# What machines read.
IN_USE = (LessonState.ACTIVE, LessonState.ANTI_PATTERN)


class LessonSource(models.TextChoices):
    PERSON = "person", "a person"
    CAMPAIGN = "campaign", "a campaign"
    IMPORTED = "imported", "an import"
    REFUSED_TRICK = "refused_trick", "a refused trick"


class Lesson(Scoped):
    """What the team takes away: four fields, all mandatory, a scope, and the entries it rests on.

    avoid: it says what not to do; approving it makes it an anti-pattern. campaign: that it came
    from; null for others. project: the key of the project that it is of; 0 for the team's own.
    confirmed, contradicted: entries in its scope that agree or do not.
    """

    HIDDEN_WITH = ("project", "campaign")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    context = models.TextField()
    signal = models.TextField()
    takeaway = models.TextField()
    applicability = models.TextField()
    avoid = models.BooleanField(default=False)
    state = models.CharField(
        max_length=16, choices=LessonState.choices, default=LessonState.PROPOSED
    )
    source = models.CharField(max_length=16, choices=LessonSource.choices)
    campaign = models.BigIntegerField(null=True, blank=True)
    project = models.BigIntegerField(default=NO_PROJECT)
    batch = models.ForeignKey(
        "knowledge.Batch", models.PROTECT, null=True, blank=True, related_name="lessons"
    )
    proposed_by = person()
    confirmed = models.PositiveIntegerField(default=0)
    contradicted = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SeenManager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "op", "backend"], name="lesson_scope")]
        constraints = [
            models.UniqueConstraint(
                fields=["op", "dtype", "backend", "platform", "arch", "strategy", "project"],
                condition=models.Q(source=LessonSource.REFUSED_TRICK),
                name="one_anti_pattern_per_trick",
            )
        ]

    def __str__(self) -> str:
        return textwrap.shorten(self.takeaway, 120, placeholder=" …")

    def get_absolute_url(self) -> str:
        return reverse("experience:lesson", args=[self.uuid])

    @property
    def in_use(self) -> bool:
        return self.state in IN_USE

    @property
    def proposer(self) -> str:
        """Who proposed it: a person, or what it came from."""
        by_itself = self.proposed_by is None and self.source != LessonSource.PERSON
        return self.get_source_display() if by_itself else actor(self.proposed_by, None)


class LessonEvidence(Guarded):
    """An entry that a lesson rests on, or that contradicts it. by: null where found by itself."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("lesson", "entry")

    lesson = models.ForeignKey(Lesson, models.PROTECT, related_name="evidence")
    entry = models.ForeignKey(Experience, models.PROTECT, related_name="lessons")
    agrees = models.BooleanField()
    by = person()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["lesson", "entry"], name="one_evidence_per_lesson")
        ]

    def __str__(self) -> str:
        return f"{self.entry} {'confirms' if self.agrees else 'contradicts'} {self.lesson}"


class LessonChange(Guarded):
    """One step in the life of a lesson: who, why, the state after it, what changed."""

    SEALED = ALWAYS
    HIDDEN_WITH = ("lesson",)

    lesson = models.ForeignKey(Lesson, models.PROTECT, related_name="changes")
    state = models.CharField(max_length=16, choices=LessonState.choices)
    by = person()
    why = models.TextField(blank=True)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.lesson}: {self.state}"

    @property
    def who(self) -> str:
        return actor(self.by, None)

    @property
    def done(self) -> str:
        """What was done, in words."""
        if not self.after:
            return "found" if self.state == LessonState.ANTI_PATTERN else "proposed"
        if "state" not in self.after:
            return "edited"
        if self.state != LessonState.PROPOSED:
            return "approved" if self.state in IN_USE else self.get_state_display()
        restored = self.before["state"] == LessonState.RETRACTED
        return "restored as a proposal" if restored else "proposed again"


class GapState(models.TextChoices):
    OPEN = "open", "open"
    ANSWERED = "answered", "answered"
    CLOSED = "closed", "closed"


class Gap(Scoped):
    """A question that nobody has answered. query: the search without a hit that it came from."""

    HIDDEN_WITH = ("lesson", "entry")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.TextField()
    query = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=12, choices=GapState.choices, default=GapState.OPEN)
    lesson = models.ForeignKey(
        Lesson, models.PROTECT, null=True, blank=True, related_name="answered_gaps"
    )
    entry = models.ForeignKey(Experience, models.PROTECT, null=True, blank=True, related_name="+")
    why = models.TextField(blank=True)
    asked_by = person()
    closed_by = person()
    asked_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = SeenManager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return textwrap.shorten(self.question, 120, placeholder=" …")

    def get_absolute_url(self) -> str:
        return reverse("experience:gaps") + f"?state={self.state}#gap-{self.pk}"

    @property
    def asker(self) -> str:
        return actor(self.asked_by, None)

    @property
    def closer(self) -> str:
        return actor(self.closed_by, None)


class ConflictState(models.TextChoices):
    OPEN = "open", "open"
    DECIDED = "decided", "decided"


class Disagreement(models.Model):
    """Two entries of one idea with opposite effects, or an entry against an active lesson.

    A review item: a person says what follows. second: null where a lesson is the other side.
    """

    HIDDEN_WITH = ("first", "second", "lesson")

    first = models.ForeignKey(Experience, models.PROTECT, related_name="disagreements")
    second = models.ForeignKey(Experience, models.PROTECT, null=True, blank=True, related_name="+")
    lesson = models.ForeignKey(
        Lesson, models.PROTECT, null=True, blank=True, related_name="disagreements"
    )
    state = models.CharField(
        max_length=12, choices=ConflictState.choices, default=ConflictState.OPEN
    )
    decision = models.TextField(blank=True)
    by = person()
    found_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = SeenManager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            # SQLite takes every null for another value, so each kind has a constraint of its own.
            models.UniqueConstraint(
                fields=["first", "second"],
                condition=models.Q(second__isnull=False),
                name="one_disagreement_per_pair",
            ),
            models.UniqueConstraint(
                fields=["first", "lesson"],
                condition=models.Q(lesson__isnull=False),
                name="one_disagreement_per_lesson",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first} against {self.second or self.lesson}"

    def get_absolute_url(self) -> str:
        return reverse("experience:disagreement", args=[self.pk])

    @property
    def who(self) -> str:
        """Who decided it."""
        return actor(self.by, None)
