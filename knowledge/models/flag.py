"""Flag: a citation that no longer stands as it did, visible until a second person answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from knowledge.models.actor import actor
from knowledge.models.document import Revision
from knowledge.models.guarded import Guarded, GuardedQuerySet
from knowledge.models.spec import Spec


class FlagKind(models.TextChoices):
    """What is wrong."""

    CHANGED = "changed", "changed"
    LOST = "lost", "lost"
    SOURCE_MISSING = "source_missing", "source missing"
    SAME_CITATION = "same_citation", "value changed, citation kept"


class FlagAnswer(models.TextChoices):
    """What a second person said."""

    RECITED = "recited", "cited again"
    REPLACED = "replaced", "a new value replaces it"
    RETIRED = "retired", "retired"
    TYPO_FIX = "typo_fix", "typo fix"
    MISREAD = "misread", "same line, misread before"
    WITHDRAWN = "withdrawn", "the change was taken back"


DRIFT = frozenset({FlagKind.CHANGED, FlagKind.LOST, FlagKind.SOURCE_MISSING})


class FlagQuerySet(GuardedQuerySet["Flag"]):
    """The questions that pages and reviews ask."""

    def open(self) -> FlagQuerySet:
        return self.filter(answered_at__isnull=True)


class Flag(Guarded):
    """One citation and what became of it; sealed once answered.

    revision: the text in which it was noticed (null where the document is gone). first_line,
    last_line, quote: where its place is now and what stands there, where that is known.
    raised_by: who brought the text or value in, who may therefore not answer; null for a command,
    and like answered_by for what was imported.
    elsewhere: of a flag that was imported with its value, `by` and `at`, and once answered there
    `answered_by`, `answered_at` and `why`; null for one that was raised here.
    """

    SEALED = models.Q(answered_at__isnull=False)

    spec = models.ForeignKey(Spec, models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=16, choices=FlagKind.choices)
    revision = models.ForeignKey(
        Revision, models.PROTECT, null=True, blank=True, related_name="flags"
    )
    first_line = models.PositiveIntegerField(null=True, blank=True)
    last_line = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    note = models.TextField(blank=True)
    raised_at = models.DateTimeField(auto_now_add=True)
    raised_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    answer = models.CharField(max_length=16, choices=FlagAnswer.choices, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    why = models.TextField(blank=True)
    elsewhere = models.JSONField(null=True, blank=True, editable=False)

    objects = FlagQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        base_manager_name = "objects"
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["spec"], name="flag_open", condition=models.Q(answered_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.spec}: {self.get_kind_display()}"

    @property
    def raiser(self) -> str:
        """Who brought in what it is about, in words."""
        return actor(self.raised_by, self.elsewhere)

    @property
    def answerer(self) -> str:
        """Who answered it, in words."""
        return actor(self.answered_by, self.elsewhere, "answered_by")
